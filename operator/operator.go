package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/webhooks"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/tlssecret"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Operator is a set of controllers and the commands of their program. It isn't safe for concurrent use: one goroutine
// adds the controllers, and then calls Main or Execute once.
type Operator struct {
	name     string
	managing []deploy.Option
	// manager has the options in managing, and no cluster. Execute sets it. If the options are invalid, Execute stores
	// the error in the field wrong instead.
	manager     *deploy.Manager
	wrong       error
	defaults    []func(*config.Config)
	ownFlags    []func(*pflag.FlagSet)
	oper8       bool
	watches     []cluster.Option
	extensions  []func(context.Context, Process) (Extension, error)
	commands    []func(open Opener) *cobra.Command
	controllers []controller
	selected    []selectedKinds
	// engine are the options of the engine for single kinds.
	engine   map[schema.GroupKind][]watch.Option
	startups []startup
	// preparations load what selectors depend on, for commands other than run.
	preparations []preparation
	// login returns the configuration of a client, which the caller may change.
	login func(ctx context.Context, c config.Config) (*rest.Config, error)
	// alive and ready are the probes of /healthz and /readyz.
	alive, ready []*probe
	// patches are the options of temporary patches, unless these are switched off.
	patches    []temporarypatch.Option
	patchesOff bool
	// webhooks are what the API server asks, and policies.
	webhooks webhooks.Set
	// life has the times of the certificate of webhooks.
	life tlssecret.Life
	// atEnd are the functions to call when the command has ended, the last one first.
	atEnd []func()
	// called is the name by which users call the program if it isn't the operator's name, such as "kubectl NAME".
	called string
	// namespaceFile is the file with the namespace of a Pod.
	namespaceFile string
}

// Option is an option of New.
type Option func(*Operator)

// Manager adds options of the deploy.Manager that applies all objects. Several options add up. The operator overrides
// deploy.OwnerKinds, and its reconcilers override deploy.OwnedBy, deploy.RetryFor and deploy.RecreateWait. An operator
// may need these options:
//
//   - deploy.FieldManager: the name under which the operator owns the fields that it applies; default its own name. It
//     must stay the same from release to release, and no other operator in the cluster may have the same. An operator
//     that replaces an operator of another name sets the old name here, so that fields that it no longer renders are
//     removed.
//   - deploy.TakeOverFrom: field managers whose fields this operator takes over with the first apply of each object.
//     They must no longer write the objects.
//   - deploy.KeyDomain: the domain of the annotations that the operator reads and writes. An operator that replaces an
//     operator of another framework sets that framework's domain, so that annotations on existing resources keep
//     working.
//   - deploy.Adopt: whether objects that exist already, and that the operator didn't create, become its own. By default
//     they are left alone, and the component fails.
//   - deploy.DefaultNamespace: for cluster-scoped resources, the namespace of objects that name none, and of the
//     Secrets with generated values. Without this option such objects, and generated values, are errors. Objects of
//     namespaced resources are in the resource's namespace.
func Manager(options ...deploy.Option) Option {
	return func(o *Operator) { o.managing = append(o.managing, options...) }
}

// Watches sets how much of a kind is watched and cached: cluster.MetadataOnly for many or large objects whose content
// no controller reads, such as Secrets that are only written, and cluster.Selected if controllers read only some
// objects of a kind. Don't use it for the kinds of the controllers. Which namespaces are watched is set by flags of the
// command run. Several options add up.
//
//	operator.New("guestbook-operator", operator.Watches(cluster.MetadataOnly(schema.GroupKind{Kind: "Secret"})))
func Watches(options ...cluster.Option) Option {
	return func(o *Operator) { o.watches = append(o.watches, options...) }
}

// Reconciles sets how the resources of one kind are reconciled, whatever the style of its reconciler: watch.Workers for
// how many of them at once, out of those that the setting watch.workers allows, and watch.Timeout, watch.Backoff and
// watch.Period instead of the settings. If such a setting is given by a flag, the environment or the file, it counts
// for all kinds. Several options add up, and the later one wins.
//
//	operator.New("guestbook-operator", operator.Reconciles(backups, watch.Workers(1), watch.Timeout(time.Hour)))
func Reconciles(kind schema.GroupVersionKind, options ...watch.Option) Option {
	return func(o *Operator) {
		if o.engine == nil {
			o.engine = map[schema.GroupKind][]watch.Option{}
		}
		o.engine[kind.GroupKind()] = append(o.engine[kind.GroupKind()], options...)
	}
}

// Defaults changes the defaults of the settings of the process, see config.Default. Several options add up.
func Defaults(change func(*config.Config)) Option {
	return func(o *Operator) { o.defaults = append(o.defaults, change) }
}

// Flags adds settings of your own. Like all settings, they can be set by flags, the environment and the file. They have
// their values when a controller's Setup runs. Several options add up.
func Flags(add func(*pflag.FlagSet)) Option {
	return func(o *Operator) { o.ownFlags = append(o.ownFlags, add) }
}

// Oper8Environment reads settings from the environment variables of oper8, too, such as LOG_LEVEL, and warns about each
// that it uses. Variables with the operator's prefix override them. With the same variables, the operator takes the
// same lock of leader election as oper8. As in oper8, OPERATOR_NAME overrides PYTHON_WATCH_MANAGER_LOCK_NAME. Outside
// of a Pod PYTHON_WATCH_MANAGER_LOCK_NAMESPACE sets the namespace of the lock. If nothing sets it, but
// PYTHON_WATCH_MANAGER_LOCK_TYPE chooses the lock, the namespace is "default". In a Pod these two variables don't
// affect the namespace.
func Oper8Environment() Option { return func(o *Operator) { o.oper8 = true } }

// WithoutTemporaryPatches switches temporary patches off: the operator doesn't watch them, needs no rights for them,
// and ignores the patches that are recorded on resources. Without this option the operator serves them for all kinds
// with components, and for those whose reconcilers take watch.Env.Patches, as soon as their CustomResourceDefinition is
// in the cluster.
func WithoutTemporaryPatches() Option { return func(o *Operator) { o.patchesOff = true } }

// TemporaryPatches sets how temporary patches are served, such as temporarypatch.As, which serves them under another
// Kubernetes kind. Several options add up.
func TemporaryPatches(options ...temporarypatch.Option) Option {
	return func(o *Operator) { o.patches = append(o.patches, options...) }
}

// New returns an operator without controllers. Its name is also its field manager unless the option Manager sets
// another field manager. The field manager must stay the same from release to release, and no other operator in the
// cluster may have the same.
func New(name string, options ...Option) *Operator {
	o := &Operator{name: name, namespaceFile: leader.NamespaceFile, login: usualLogin}
	for _, option := range options {
		if option != nil {
			option(o)
		}
	}
	return o
}

// Control adds a controller of components. Mistakes, such as two controllers of one kind, are reported when the
// operator starts.
func (o *Operator) Control(c reconcile.Controller, options ...reconcile.Option) {
	one := controller{sessions: c, options: options}
	if c != nil {
		one.kind = c.Kind()
	}
	o.controllers = append(o.controllers, one)
}

func (o *Operator) check() error {
	if o.name == "" {
		return errors.New("the operator has no name: pass a name to New")
	}
	if o.wrong != nil {
		return o.wrong
	}
	if err := o.webhooks.Check(); err != nil {
		return err
	}
	if len(o.controllers)+len(o.selected) == 0 && o.webhooks.Empty() {
		return errors.New("the operator has no controller: call Control, Drive or DriveKinds before Main, or Admit, Convert or Enforce")
	}
	for _, k := range o.selected {
		if err := k.check(); err != nil {
			return err
		}
	}
	for _, c := range o.controllers {
		if err := c.check(); err != nil {
			return err
		}
	}
	for kind := range o.engine {
		if !slices.ContainsFunc(o.controllers, func(c controller) bool { return c.kind.GroupKind() == kind }) {
			return fmt.Errorf("option Reconciles: the operator has no controller of the kind %s: call Control or Drive for it", kind)
		}
	}
	for _, s := range o.startups {
		if err := s.check(); err != nil {
			return err
		}
	}
	for _, p := range o.preparations {
		if err := p.check(); err != nil {
			return err
		}
	}
	return cmp.Or(checkProbes(o.alive), checkProbes(o.ready))
}

// deployManager returns a Manager for a cluster.
func (o *Operator) deployManager(on deploy.Cluster) (*deploy.Manager, error) {
	if len(o.selected) > 0 {
		return o.newManager(on, deploy.UnknownOwnerKinds())
	}
	var kinds []schema.GroupVersionKind
	for _, c := range o.controllers {
		kinds = append(kinds, c.kind)
	}
	return o.newManager(on, deploy.OwnerKinds(kinds...))
}

func (o *Operator) newManager(on deploy.Cluster, more ...deploy.Option) (*deploy.Manager, error) {
	return deploy.NewManager(on, slices.Concat([]deploy.Option{deploy.FieldManager(o.name)}, o.managing, more)...)
}

// noCluster is the cluster of a Manager that sends no requests, because only its settings are read.
type noCluster struct{}

func (noCluster) Port() deploy.Port { return nil }
func (noCluster) View() deploy.View { return nil }

// domain returns the domain of annotations. It is the default domain if the options in managing are invalid.
func (o *Operator) domain() string {
	if o.manager == nil {
		return deploy.Domain
	}
	return o.manager.KeyDomain()
}

// sessions returns the controllers of components, without their options.
func (o *Operator) sessions() (all []reconcile.Controller) {
	for _, c := range o.controllers {
		if c.sessions != nil {
			all = append(all, c.sessions)
		}
	}
	return all
}
