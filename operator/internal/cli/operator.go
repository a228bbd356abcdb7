package cli

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/settings"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Operator is the operator of the program.
type Operator struct {
	// Name is the operator's name, Called the name by which users call the program, and Domain the domain of
	// annotations.
	Name, Called, Domain string
	// Controllers are the controllers of the operator. Open reports a nil controller.
	Controllers []reconcile.Controller
	// Settings are the settings of the process. Open reads them and returns the process, which logs to log. It fails if
	// the operator or a setting is wrong.
	Settings *settings.Settings
	Open     func(log io.Writer) (*Process, error)
	// Manager returns a Manager for a cluster. Patches returns the controller of temporary patches, or nil if they are
	// off.
	Manager func(deploy.Cluster) (*deploy.Manager, error)
	Patches func(*deploy.Manager) (*temporarypatch.Controller, error)
	// Commands are the program's own.
	Commands []*cobra.Command
}

// Process is the process in which a command runs.
type Process struct {
	config.Config
	Logger *slog.Logger
	// Client returns the configuration of the client for the API server.
	Client func() (*rest.Config, error)
	// Reconciler returns a reconciler for a kind that the operator controls. The reconciler deploys through manager.
	// The options in more come after all others.
	Reconciler func(ctx context.Context, kind schema.GroupVersionKind, manager *deploy.Manager, more ...reconcile.Option) (*reconcile.Reconciler, error)
	// Run watches and reconciles until ctx ends.
	Run func(ctx context.Context) error
}

// exampleKind returns a kind for examples, spelled as for kubectl.
func (o *Operator) exampleKind() string {
	if kinds := o.Settings.Kinds; len(kinds) > 0 {
		return strings.ToLower(kinds[0])
	}
	return "KIND"
}

// controls reports whether the operator has a controller of a kind.
func (o *Operator) controls(kind schema.GroupVersionKind) bool {
	return slices.ContainsFunc(o.Controllers, func(c reconcile.Controller) bool { return c.Kind() == kind })
}

// checkControlled returns an error for a resource that the operator doesn't control.
func (o *Operator) checkControlled(kind schema.GroupVersionKind) error {
	if o.controls(kind) {
		return nil
	}
	var controlled []string
	for _, c := range o.Controllers {
		controlled = append(controlled, c.Kind().GroupVersion().String()+" "+c.Kind().Kind)
	}
	return Usage("%s %s: this operator controls only the kinds %s: correct apiVersion and kind",
		kind.GroupVersion(), kind.Kind, strings.Join(controlled, ", "))
}

// memory returns a cluster in memory in which any kind exists.
func (o *Operator) memory(options ...dryrun.Option) (*dryrun.Cluster, error) {
	var clusterScoped []schema.GroupKind
	for _, c := range o.Controllers {
		if scoper, ok := c.(reconcile.Scoper); ok && scoper.Scope() == deploy.ClusterScoped {
			clusterScoped = append(clusterScoped, c.Kind().GroupKind())
		}
	}
	return dryrun.New(append(options, dryrun.AnyKind(clusterScoped...))...)
}

// reconciler returns a reconciler for a kind on a cluster.
func (o *Operator) reconciler(
	ctx context.Context, p *Process, on deploy.Cluster, kind schema.GroupVersionKind, more ...reconcile.Option,
) (*reconcile.Reconciler, error) {
	if err := o.checkControlled(kind); err != nil {
		return nil, err
	}
	manager, err := o.Manager(on)
	if err != nil {
		return nil, err
	}
	patches, err := o.Patches(manager)
	if err != nil {
		return nil, err
	}
	if patches != nil {
		more = append(more, reconcile.WithPatches(patches))
	}
	return p.Reconciler(ctx, kind, manager, more...)
}
