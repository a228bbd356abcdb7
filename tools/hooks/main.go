package main

import (
	"context"
	"errors"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/hooks/metacontroller"
	"github.com/spf13/pflag"
)

func main() {
	var h hosted
	op := operator.New("hooks",
		operator.Flags(func(flags *pflag.FlagSet) {
			flags.StringSliceVar(&h.paths, "definitions", nil, "files and folders with CompositeControllers and DecoratorControllers")
		}),
		operator.Manager(deploy.TakeOverFrom("metacontroller")),
		operator.Defaults(func(c *config.Config) { c.Watch.Workers = workers }),
		operator.ReconcilesFound(watch.Workers(workersOfKind)),
		operator.Startup("definitions", h.start))
	op.DriveKinds(kinds.Selector{Version: "*", Where: h.has}, h.reconciler, "patch")
	op.Main()
}

const (
	// workersOfKind is how many parents of a kind are reconciled at once: a hook that doesn't respond holds up its own
	// parents, and no others.
	workersOfKind = 4
	// workers is how many parents are reconciled at once. Most of them wait for a hook.
	workers = 64
)

// hosted has the controllers of the files that the setting definitions names, once it has started.
type hosted struct {
	paths       []string
	controllers *metacontroller.Controllers
}

// start reads the definitions.
func (h *hosted) start(_ context.Context, about operator.Process) (cleanup func(context.Context) error, err error) {
	if len(h.paths) == 0 {
		return nil, errors.New("no definitions: set --definitions to a file or folder with CompositeControllers and DecoratorControllers")
	}
	if h.controllers, err = metacontroller.ReadFiles(h.paths...); err != nil {
		return nil, err
	}
	about.Logger.Info("controllers defined", "names", h.controllers.Names())
	return nil, nil
}

func (h *hosted) has(kind deploy.ServedKind) bool { return h.controllers.Has(kind) }

func (h *hosted) reconciler(ctx context.Context, env watch.Env, kind deploy.ServedKind) (watch.Reconciler, error) {
	return h.controllers.Reconciler(ctx, env, kind)
}
