"""What tests of tables that change share."""
