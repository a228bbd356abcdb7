// Command database is an operator for databases: PostgreSQL with a volume, a generated password, a certificate, a
// schema, backups, and an export before a database is deleted.
package main

import (
	"github.com/operkit/operkit/operator/full"
	"github.com/operkit/operkit/reconcile/kit/podhash"
)

func main() {
	op := full.New("database-operator")
	op.Control(Database{}, podhash.Components()) // a new password or certificate restarts the server
	op.Main()
}
