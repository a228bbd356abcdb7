package main

import (
	"context"
	"crypto/rand"

	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Guestbook controls the guestbooks: redis, and web, which waits until redis is ready.
type Guestbook struct{}

// Kind implements reconcile.Controller.
func (Guestbook) Kind() schema.GroupVersionKind { return v1.GuestbookKind }

// Setup implements reconcile.Controller.
func (Guestbook) Setup(ctx context.Context, s *reconcile.Session) error {
	var book v1.Guestbook
	if err := s.Into(&book); err != nil {
		return err
	}
	password, err := s.Generated(ctx, s.ScopedName("redis"), "password", func() (string, error) { return rand.Text(), nil })
	if err != nil {
		return err
	}
	redis := s.Add("redis", redisSecret(s, password), redisService(s), redisStatefulSet(s))
	web := s.Add("web", webConfig(s, book.Spec), webService(s), webDeployment(s, book.Spec))
	if book.Spec.Redis.Enabled {
		web.After(redis, reconcile.Ready)
	} else {
		redis.Disable()
	}
	return nil
}

// Finalize implements reconcile.Finalizer: web goes first, so that no visitor meets a
// guestbook whose store is gone. The cluster collects the rest.
func (Guestbook) Finalize(ctx context.Context, s *reconcile.Session) error {
	return s.Remove(ctx, webDeployment(s, v1.GuestbookSpec{}))
}
