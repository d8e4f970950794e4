"""The experiments of Golab and Özsu: joining many windows at once."""
