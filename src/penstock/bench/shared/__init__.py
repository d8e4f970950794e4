"""`penstock bench shared`: ten queries over three streams, together beside each by itself."""
