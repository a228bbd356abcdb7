// Command database is an operator for databases: PostgreSQL with a volume, a generated password, backups, and an export
// before a database is deleted.
package main

import "github.com/operkit/operkit/operator/full"

func main() {
	op := full.New("database-operator")
	op.Control(Database{})
	op.Main()
}
