"""The rival of create_device_mesh_split.c."""
from create_device_mesh import serve_rounds

serve_rounds((64, 64), True)
