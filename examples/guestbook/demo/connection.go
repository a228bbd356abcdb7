package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// demoUser is the name under which the demo owns what it applies, on behalf of a user.
const demoUser = "guestbook-demo"

// rightsPoll is the interval at which the API server is asked whether new rights are in effect.
const rightsPoll = 20 * time.Millisecond

// connection is a client of the control plane.
type connection struct {
	manager *deploy.Manager
	api     *cluster.Cluster
	// life is the context of all watches, which must outlive the step that starts them.
	life context.Context
	end  context.CancelFunc
}

// connect returns a client from a kubeconfig file, for one namespace. The caller must close it.
func connect(ctx context.Context, kubeconfig, namespace string) (*connection, error) {
	config, err := cluster.Config(kubeconfig, "")
	if err != nil {
		return nil, err
	}
	config.UserAgent = demoUser
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	quiet := cluster.Logger(slog.New(slog.DiscardHandler))
	api, err := cluster.New(life, config, cluster.Namespaces(namespace), quiet)
	if err != nil {
		end()
		return nil, err
	}
	manager, err := deploy.NewManager(api, deploy.FieldManager(demoUser))
	if err != nil {
		end()
		return nil, err
	}
	return &connection{manager: manager, api: api, life: life, end: end}, nil
}

// close ends the watches.
func (c *connection) close() {
	c.end()
	c.api.Wait()
}

// follow sends the events of these kinds to the feed, and returns when the feed has all existing objects.
func (c *connection) follow(ctx context.Context, feed *feed, kinds ...schema.GroupVersionKind) error {
	for _, kind := range kinds {
		subscription, err := c.manager.View().Subscribe(c.life, kind, feed.put)
		if err == nil {
			err = subscription.Synced(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", kind.Kind, err)
		}
	}
	return nil
}

// awaitRights returns when this client may list the kind. New rights take effect after a moment, since the API server
// gets them by a watch.
func (c *connection) awaitRights(ctx context.Context, kind schema.GroupVersionKind, namespace string) error {
	for {
		_, err := c.manager.View().List(ctx, kind, namespace, nil)
		var forbidden *deploy.ForbiddenError
		if !errors.As(err, &forbidden) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(rightsPoll):
		}
	}
}
