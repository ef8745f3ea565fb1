scope
