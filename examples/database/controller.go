package main

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/database/api/v1"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Database controls databases: a server, and backups of it once it is ready.
type Database struct{}

// Kind implements reconcile.Controller.
func (Database) Kind() schema.GroupVersionKind { return v1.DatabaseKind }

// Setup implements reconcile.Controller.
func (Database) Setup(_ context.Context, s *reconcile.Session) error {
	var db v1.Database
	if err := s.Into(&db); err != nil {
		return err
	}
	store := s.Use("server", server{db.Spec})
	dumps := s.Use("backup", backup{db.Spec})
	if db.Spec.Archive == "" || !db.Spec.Backup.Enabled {
		dumps.Disable()
	} else {
		dumps.After(store, reconcile.Ready)
	}
	s.SetStatus("endpoint", fmt.Sprintf("%s.%s.svc:%d", s.Name(), s.Namespace(), port))
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
		// The template of a Job can't be changed: a correction of the spec needs a new Job.
		s.Add("export").Add("job", exportJob(s, db.Spec), reconcile.By(deploy.Recreate))
	}
	return nil
}

// labels select the Pods of one component of the database. They don't depend on the release, since a selector can't be
// changed.
func labels(s *reconcile.Session, component string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":      "database",
		"app.kubernetes.io/instance":  s.Name(),
		"app.kubernetes.io/component": component,
	}
}
