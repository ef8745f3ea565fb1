chunks
