dlpack
