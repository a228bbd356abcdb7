package main

import (
	"context"
	"fmt"

	v1 "github.com/operkit/operkit/examples/database/api/v1"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/jobs"
	"github.com/operkit/operkit/reconcile/kit/tls"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Database controls databases: a server with a certificate and, once it is ready, its schema and backups.
type Database struct{}

// Kind implements reconcile.Controller.
func (Database) Kind() schema.GroupVersionKind { return v1.DatabaseKind }

// Setup implements reconcile.Controller.
func (Database) Setup(_ context.Context, s *reconcile.Session) error {
	var db v1.Database
	if err := s.Into(&db); err != nil {
		return err
	}
	postgres := &server{spec: db.Spec}
	store := s.Use("server", postgres)
	postgres.cert = tls.Own(s).Certificate(store, tls.Service(s.Name(), s.Namespace())...)
	if db.Spec.Schema != "" {
		s.Use("schema", jobs.Once(digest(db.Spec.Schema), schemaJob(db.Spec))).After(store, reconcile.Ready)
	}
	dumps := s.Use("backup", backup{db.Spec})
	if db.Spec.Archive == "" || !db.Spec.Backup.Enabled {
		dumps.Disable()
	} else {
		dumps.After(store, reconcile.Ready)
	}
	s.SetStatus("endpoint", fmt.Sprintf("%s:%d", host(s), port))
	s.SetStatus("binding.name", s.ScopedName("binding"))
	return nil
}

// Finalize implements reconcile.Finalizer: the data is exported, and then the cluster deletes the database with all
// that it owns.
func (Database) Finalize(_ context.Context, s *reconcile.Session) error {
	var db v1.Database
	if err := s.Into(&db); err != nil {
		return err
	}
	if db.Spec.Archive != "" {
		s.Use("export", export{db.Spec})
	}
	return nil
}
