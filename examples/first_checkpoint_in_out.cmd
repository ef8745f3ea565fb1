first_checkpoint_in_out
ls step-1000
first_checkpoint_in_out no-such-folder/step-1000
