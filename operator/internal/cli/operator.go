package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/settings"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Operator is the operator of the program.
type Operator struct {
	// Name is the operator's name, Called the name by which users call the program, and Domain the domain of
	// annotations.
	Name, Called, Domain string
	// Kinds are the kinds of the operator. Open reports an invalid one.
	Kinds []Kind
	// Selectors select further kinds, which have no components.
	Selectors []kinds.Selector
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

// Kind is a kind that the operator controls.
type Kind struct {
	schema.GroupVersionKind
	// Controller has the components of a resource. It is nil for a kind of another style, which has none.
	Controller reconcile.Controller
}

// Process is the process in which a command runs.
type Process struct {
	config.Config
	Logger *slog.Logger
	// Client returns the configuration of the client for the API server.
	Client func(ctx context.Context) (*rest.Config, error)
	// Prepare loads what the Selectors depend on. It is called before they are asked.
	Prepare func(ctx context.Context) error
	// Reconciler returns a reconciler for a kind that the operator controls. The reconciler deploys through manager.
	// The options in more come after all others.
	Reconciler func(ctx context.Context, kind schema.GroupVersionKind, manager *deploy.Manager, more ...reconcile.Option) (*reconcile.Reconciler, error)
	// Finalizers returns the names of the operator's own finalizers of a kind that it controls, or that a selector has.
	Finalizers func(ctx context.Context, kind schema.GroupVersionKind, manager *deploy.Manager) ([]string, error)
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

// hasComponents reports whether resources of a kind have components.
func (o *Operator) hasComponents(kind schema.GroupVersionKind) bool {
	return slices.ContainsFunc(o.Kinds, func(k Kind) bool { return k.GroupVersionKind == kind && k.Controller != nil })
}

// checkComponents returns an error for a resource that the operator doesn't control, or that has no components.
func (o *Operator) checkComponents(kind schema.GroupVersionKind) error {
	var controlled, fitting []string
	known := len(o.Selectors) > 0 // any other kind may be one of them
	for _, k := range o.Kinds {
		name := k.GroupVersion().String() + " " + k.Kind
		controlled = append(controlled, name)
		if k.Controller != nil {
			fitting = append(fitting, name)
		}
		known = known || k.GroupVersionKind == kind
	}
	switch {
	case o.hasComponents(kind):
		return nil
	case !known:
		return Usage("%s %s: this operator controls only the kinds %s: correct apiVersion and kind",
			kind.GroupVersion(), kind.Kind, strings.Join(controlled, ", "))
	case len(fitting) == 0:
		return Usage("a %s has no components, which this command needs, and this operator controls no kind with components", kind.Kind)
	default:
		return Usage("a %s has no components, which this command needs: choose a resource of %s", kind.Kind, strings.Join(fitting, ", "))
	}
}

// withComponents returns the objects that have components. It names the kinds of the others.
func (o *Operator) withComponents(log io.Writer, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	left := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(objects), func(obj *unstructured.Unstructured) bool {
		kind := obj.GetKind()
		if o.hasComponents(obj.GroupVersionKind()) {
			return false
		}
		if !left[kind] {
			fmt.Fprintf(log, "%s is left out: it has no components\n", kind)
		}
		left[kind] = true
		return true
	})
}

// memory returns a cluster in memory in which any kind exists.
func (o *Operator) memory(options ...dryrun.Option) (*dryrun.Cluster, error) {
	var clusterScoped []schema.GroupKind
	for _, k := range o.Kinds {
		if scoper, ok := k.Controller.(reconcile.Scoper); ok && scoper.Scope() == deploy.ClusterScoped {
			clusterScoped = append(clusterScoped, k.GroupKind())
		}
	}
	return dryrun.New(append(options, dryrun.AnyKind(clusterScoped...))...)
}

// reconciler returns a reconciler for a kind on a cluster.
func (o *Operator) reconciler(
	ctx context.Context, p *Process, on deploy.Cluster, kind schema.GroupVersionKind, more ...reconcile.Option,
) (*reconcile.Reconciler, error) {
	if err := o.checkComponents(kind); err != nil {
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
