"""Relations in FROM: views and tables that change, met as they are."""
