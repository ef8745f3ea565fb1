fsck
