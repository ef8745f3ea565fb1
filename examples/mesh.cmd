mesh
