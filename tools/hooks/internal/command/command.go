package command

import (
	"context"
	"errors"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/tools/hooks/metacontroller"
	"github.com/spf13/pflag"
)

// Main runs the command with the arguments of the process, and ends the process.
func Main() {
	var h hosted
	op := operator.New("hooks",
		operator.Flags(func(flags *pflag.FlagSet) {
			flags.StringSliceVar(&h.paths, "definitions", nil, "files and folders with CompositeControllers and DecoratorControllers")
			flags.BoolVar(&h.isInCluster, "cluster-definitions", false, "use the CompositeControllers and DecoratorControllers of the cluster")
			h.playbooks.flags(flags)
		}),
		operator.Manager(deploy.TakeOverFrom("metacontroller")),
		operator.Defaults(func(c *config.Config) { c.Watch.Workers = workers }),
		operator.Startup("definitions", h.start), operator.Startup("playbooks", h.playbooks.start),
		operator.Prepare("definitions", h.load), operator.Prepare("playbooks", h.playbooks.load))
	op.DriveKinds(h.controllers.Selector(), h.controllers.Reconciler, "patch")
	op.DriveKinds(h.definitions(), h.controllers.Definition)
	op.DriveKinds(h.playbooks.all.Selector(), h.playbooks.all.Reconciler, "patch")
	op.Main()
}

// workers is how many parents are reconciled at once. Most of them wait for a hook.
const workers = 64

// hosted has the controllers that the settings name.
type hosted struct {
	paths       []string
	isInCluster bool
	controllers metacontroller.Controllers
	playbooks   playbooks
}

// start reads the definitions of files.
func (h *hosted) start(_ context.Context, about operator.Process) (cleanup func(context.Context) error, err error) {
	if err := h.readFiles(); err != nil || len(h.paths) == 0 {
		return nil, err
	}
	about.Logger.Info("controllers defined", "names", h.controllers.Names())
	return nil, nil
}

// load reads the definitions of files and of the cluster, for a command that doesn't run.
func (h *hosted) load(ctx context.Context, about operator.Process) error {
	if err := h.readFiles(); err != nil || !h.isInCluster {
		return err
	}
	config, err := cluster.Config(about.Config.Kubeconfig, about.Config.Context)
	if err != nil {
		return err
	}
	api, err := cluster.New(ctx, config, cluster.Logger(about.Logger))
	if err != nil {
		return err
	}
	mistakes, err := h.controllers.ReadCluster(ctx, api.Port())
	if mistakes != nil {
		about.Logger.Warn("definitions with a mistake are left out", "error", mistakes)
	}
	return err
}

// readFiles reads the definitions of files. It is an error if no setting names any definitions.
func (h *hosted) readFiles() error {
	switch {
	case len(h.paths) > 0:
		return h.controllers.ReadFiles(h.paths...)
	case !h.isInCluster && len(h.playbooks.paths) == 0:
		return errors.New("no definitions: set --definitions to a file or folder with CompositeControllers and DecoratorControllers, --cluster-definitions, or --watches to a watches.yaml")
	}
	return nil
}

// definitions selects the kinds of definitions in the cluster, if the settings ask for them.
func (h *hosted) definitions() kinds.Selector {
	selector := metacontroller.Definitions()
	where := selector.Where
	selector.Where = func(kind deploy.ServedKind) bool { return h.isInCluster && where(kind) }
	return selector
}
