pieces
