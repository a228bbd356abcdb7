package desired

import (
	"errors"
	"slices"

	"github.com/operkit/operkit/reconcile/desired/internal/engine"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Option is an option of New. nil is ignored. Options that are wrong are reported when the operator starts, all at
// once.
type Option func(*config)

// config is what the options of New set.
type config struct {
	engine.Settings
	children []*child
	// finalizer is the name of the finalizer, nil for the default.
	finalizer *string
	// readiness judges children without Healthy. Its default is that of the watch.Env.
	readiness readiness.Checker
	errs      []error
}

// child is a declared kind of children.
type child struct {
	engine.Child
	healthy []func(obj *unstructured.Unstructured) bool
	errs    []error
}

// isHealthy reports whether a child does its work. checker judges it if it has no Healthy.
func (c *child) isHealthy(obj *unstructured.Unstructured, checker readiness.Checker) bool {
	if len(c.healthy) == 0 {
		return checker.Of(obj).Ready()
	}
	for _, check := range c.healthy {
		if !check(obj) {
			return false
		}
	}
	return true
}

// Child declares a kind of children, and how they are updated. Children of other kinds are refused. When a kind is no
// longer declared, its children stay until their parent is gone.
func Child(kind schema.GroupVersionKind, strategy Strategy, opts ...ChildOption) Option {
	one := &child{Child: engine.Child{Kind: kind, Strategy: strategy}}
	for _, opt := range opts {
		if opt != nil {
			opt(one)
		}
	}
	return func(c *config) { c.children = append(c.children, one) }
}

// Relates declares kinds of related objects, so that the rights to read them are among the rights that the operator
// needs (watch.RightsProvider). Relater works without it. Selection.Namespaces needs those of the kind Namespace, too.
func Relates(kinds ...schema.GroupVersionKind) Option {
	return func(c *config) { c.Settings.Relates = append(c.Settings.Relates, kinds...) }
}

// FinalizerName sets the name of the finalizer of parents. The default is <domain>/<operator>, such as
// operkit.dev/cats: the domain and the field manager of the manager. A name without a domain, as operators of roperator
// have it, is for custom resources only. A Syncer without a Finalize removes the finalizer from parents that have it.
func FinalizerName(name string) Option {
	return func(c *config) { c.finalizer = &name }
}

// Revisions has rolls follow some fields of a parent, named by paths such as spec.template: a change of these fields
// rolls, and other changes of children are made at once. Without paths it is the whole spec. Each parent must have the
// fields. It is for namespaced parents, and needs a kind of children with a rolling Strategy.
//
// The states of the fields are kept in ControllerRevisions of apps/v1, each with the names of its children, from the
// first time when all children are as wanted. Until its turn comes, a child stays as Sync wants it for the state that
// it was made with: one that is deleted meanwhile is created as it was. So Sync, and Related, are called for each state
// that is in use, with the parent as it was then in these fields; the status, the labels and the annotations of the
// present one count. If Sync fails for an earlier state, its children stay as they are until their turn, and so do
// children whose state isn't known. While a parent is being deleted, nothing is rolled.
//
// No child has its turn while one that was updated isn't healthy, also if the others aren't healthy either: children
// that can only become healthy together are mended by a change of other fields, or without Revisions.
//
// A status gets a condition Updated, unless it has one: it is False with the reason RolloutWaiting while a child waits
// for its turn, and names the child that it waits for. Without the option, the ControllerRevisions stay until their
// parent is gone.
func Revisions(paths ...string) Option {
	return func(c *config) {
		if len(paths) == 0 {
			paths = []string{"spec"}
		}
		c.Settings.Revisions = append(c.Settings.Revisions, paths...)
	}
}

// ReadyBy sets the readiness.Checker by which children without Healthy are healthy for a roll; by default it is that of
// the watch.Env, which in package operator knows the kinds of known.Kinds. Several options are merged, field by field
// and kind by kind, over that default; later options win. Unlike for components, storage classes aren't read: without a
// WaitsForConsumer an unbound claim isn't healthy.
func ReadyBy(checker readiness.Checker) Option {
	return func(c *config) { c.readiness = checker.Over(c.readiness) }
}

// External is for a Syncer that asks a program outside of this one, which may be mended without an event in the
// cluster: what is wrong with an answer is tried again after a while, like other errors. By default the parent is left
// alone until something changes.
func External() Option { return func(c *config) { c.Settings.External = true } }

// When sets which events of a parent count. The default is filter.Standard: a change of the status alone doesn't count.
// A predicate of changes needs filter.Lifecycle beside it, see package filter.
// Objects that Selector, Adopter and Relater depend on are watched in any case.
func When(predicate filter.Predicate) Option { return func(c *config) { c.Settings.When = predicate } }

// Decorates is for parents that have a controller of their own, such as Deployments: the Syncer only adds to them. Then
// Response.Status is written exactly as it is returned, without an observedGeneration, and nothing else is written into
// the status: a parent that T can't hold, and a pause, are only logged and recorded as events.
func Decorates() Option { return func(c *config) { c.Settings.Decorates = true } }

// ChildOption is an option of Child. nil is ignored.
type ChildOption func(*child)

// Healthy sets when a child is healthy for a roll: when it has the condition with that status and one of the reasons,
// and not about an earlier generation of the child. An empty status is any status, and no reasons are any reason. Of
// several Healthy all have to hold. The default is status/readiness, which knows the usual kinds, see ReadyBy.
func Healthy(conditionType string, value metav1.ConditionStatus, reasons ...string) ChildOption {
	return func(c *child) {
		if conditionType == "" {
			c.errs = append(c.errs, errors.New("healthy: needs the type of a condition, such as Ready"))
		}
		c.healthy = append(c.healthy, func(obj *unstructured.Unstructured) bool {
			found, ok := status.Conditions(obj).Get(conditionType)
			observed, known, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
			isOld := found.ObservedGeneration != 0 && found.ObservedGeneration < obj.GetGeneration() || known && observed < obj.GetGeneration()
			isWanted := ok && (value == "" || found.Status == value) && (len(reasons) == 0 || slices.Contains(reasons, found.Reason))
			return isWanted && !isOld
		})
	}
}

// Deletable lets children be deleted whose deletion deletes data or other objects (deploy.Protected), such as a
// PersistentVolumeClaim. By default such children stay when they aren't wanted any more, until their parent is gone.
// For other kinds it is a mistake. It has no effect on Recreate and RollingRecreate: a child that differs is kept, and
// that is an error, unless its annotation names the strategy deploy.RecreateProtected.
func Deletable() ChildOption { return func(c *child) { c.Deletable = true } }
