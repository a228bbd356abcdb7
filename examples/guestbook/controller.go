package main

import (
	"context"

	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Guestbook controls the guestbooks: redis, and web, which waits until redis is ready.
type Guestbook struct{}

// Kind implements reconcile.Controller.
func (Guestbook) Kind() schema.GroupVersionKind { return v1.GuestbookKind }

// Config is the configuration that a cluster's administrator may change for its guestbooks.
type Config struct {
	Redis struct {
		// Image is the image of redis, for instance in a private registry.
		Image string `json:"image"`
	} `json:"redis"`
}

// Defaults implements reconcile.Defaulter.
func (Guestbook) Defaults() reconcile.Defaults {
	return reconcile.Defaults{Config: map[string]any{"redis": map[string]any{"image": "redis:8"}}}
}

// Setup implements reconcile.Controller: which components a guestbook has, and what waits for what.
func (Guestbook) Setup(_ context.Context, s *reconcile.Session) error {
	var book v1.Guestbook
	if err := s.Into(&book); err != nil {
		return err
	}
	var config Config
	if err := s.ConfigInto(&config); err != nil {
		return err
	}
	store := s.Use("redis", redis{config})
	front := s.Use("web", web{book.Spec})
	if book.Spec.Redis.Enabled {
		front.After(store, reconcile.Ready)
	} else {
		store.Disable()
	}
	return nil
}

// Finalize implements reconcile.Finalizer: it deletes web first, so that no visitor sees a guestbook without its store.
// The cluster deletes the rest.
func (Guestbook) Finalize(ctx context.Context, s *reconcile.Session) error {
	return s.Remove(ctx, web{}.deployment(s))
}
