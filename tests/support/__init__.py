"""What tests share: random streams, plans, engines, crashes."""
