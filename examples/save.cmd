save
