package main

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/webapp/api/v1"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// WebApp controls the web apps: a component for each stage, which waits until the stage before is ready.
type WebApp struct {
	interval time.Duration
	channels channels
}

// flags adds the settings that only this operator has.
func (w *WebApp) flags(set *pflag.FlagSet) {
	config.DurationVar(set, &w.interval, "channel.interval", time.Minute, "how often release channels are asked for their version")
}

// Kind implements reconcile.Controller.
func (*WebApp) Kind() schema.GroupVersionKind { return v1.WebAppKind }

// Scope implements reconcile.Scoper, for rendering without a cluster.
func (*WebApp) Scope() deploy.Scope { return deploy.ClusterScoped }

// Sources implements source.Provider. ConfigMaps are watched from the start, since they are read before the first one
// is written.
func (w *WebApp) Sources() source.Sources {
	return source.Sources{
		Owned:    []source.Owned{{Kind: configMaps}},
		External: []source.External{source.PollEach(w.interval, w.channels.poll)},
	}
}

// Setup implements reconcile.Controller: which stages a web app has, and what waits for what.
func (w *WebApp) Setup(ctx context.Context, s *reconcile.Session) error {
	var app v1.WebApp
	if err := s.Into(&app); err != nil {
		return err
	}
	version, err := w.version(ctx, s, &app)
	if err != nil {
		return err
	}
	var before *reconcile.Component
	for _, one := range app.Spec.Stages {
		next := s.Use(one.Namespace, stage{one, app.Spec.Image, version})
		if before != nil {
			next.After(before, reconcile.Ready)
		}
		before = next
	}
	return nil
}

// toldByChannel stands for the version in a dry run that can't know it. It is a valid tag and label value.
const toldByChannel = "told-by-the-channel"

// version returns the version to deploy: the one that the channel named last, or, if it has named none yet, the
// deployed version.
func (w *WebApp) version(ctx context.Context, s *reconcile.Session, app *v1.WebApp) (version string, err error) {
	var silence error
	if !s.DryRun() { // a dry run sends no requests outside of the cluster
		version, silence = w.channels.version(ctx, app)
	}
	if version == "" {
		if version, err = versionOut(ctx, s, app.Spec.Stages); err != nil {
			return "", fmt.Errorf("which version is out: %w", err)
		}
	}
	switch {
	case version != "":
		return version, nil
	case s.DryRun():
		return toldByChannel, nil
	}
	return "", request.Precondition("no version is known yet: %w", silence)
}

// versionOut returns the version of the first stage that has one, which is the newest, or "" if no stage has one. With
// it, a restart of the operator changes nothing while the channel is down.
func versionOut(ctx context.Context, s *reconcile.Session, stages []v1.Stage) (string, error) {
	owned, err := s.Manager().Owned(ctx, []schema.GroupVersionKind{configMaps}, nil)
	if err != nil {
		return "", err
	}
	for _, stage := range stages {
		for _, object := range owned {
			if object.GetNamespace() == stage.Namespace {
				return object.GetLabels()[versionLabel], nil
			}
		}
	}
	return "", nil
}
