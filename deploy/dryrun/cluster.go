package dryrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// Cluster is a cluster in memory. It is safe for concurrent use, and independent of other Clusters. The Port copies
// objects that it receives and returns.
type Cluster struct {
	clock   func() time.Time
	traffic traffic
	// namespacesExist means that an object needs an existing namespace. collectUnknown is set by CollectUnknownOwners.
	namespacesExist, collectUnknown bool
	admission                       []Admission
	webhooks                        Webhooks

	mu            sync.RWMutex
	kinds         *kinds
	fields        *fieldManagers
	storage       *storage
	history       history
	subscriptions map[*subscription]struct{}
	running       sync.WaitGroup
}

var _ deploy.Cluster = (*Cluster)(nil)

// Option sets up a new Cluster.
type Option func(*options)

type options struct {
	seeds          []*unstructured.Unstructured
	anyKind        bool
	schemaless     bool
	namespaces     []string
	collectUnknown bool
	history        int
	admission      []Admission
	webhooks       Webhooks
	conversions    []Conversion
	clusterScoped  []schema.GroupKind
	clock          func() time.Time
}

// Objects puts objects into a new cluster as they are given, with their status, uid, managedFields, owner references
// and finalizers. Missing uids, creationTimestamps and generations are filled in. The resourceVersion is always new.
// Several Objects options add up.
func Objects(objects ...*unstructured.Unstructured) Option {
	return func(o *options) { o.seeds = append(o.seeds, objects...) }
}

// AnyKind accepts objects of kinds that have no definition, for which a server would return an error. Such a kind has a
// status subresource, accepts any field, replaces lists as a whole, and exists in a version once an object of that
// version was written. It is namespaced unless it is among clusterScoped. Several options add up.
func AnyKind(clusterScoped ...schema.GroupKind) Option {
	return func(o *options) { o.anyKind, o.clusterScoped = true, append(o.clusterScoped, clusterScoped...) }
}

// Schemaless ignores all schemas, including those of built-in kinds and CustomResourceDefinitions: every kind behaves
// as with AnyKind. It is for tests with made-up content.
func Schemaless() Option { return func(o *options) { o.anyKind, o.schemaless = true, true } }

// Namespaces creates namespaces, in addition to default and the others that every server has. An object can be created
// only in a namespace that exists. With the name "*", or with AnyKind and without Namespaces, it can be created in any
// namespace.
func Namespaces(names ...string) Option {
	return func(o *options) { o.namespaces = append(o.namespaces, names...) }
}

// CollectUnknownOwners makes the garbage collection also delete objects whose owners were never in the cluster or are
// in another namespace, as a server does. By default such objects stay.
func CollectUnknownOwners() Option { return func(o *options) { o.collectUnknown = true } }

// keptEvents is how many events are kept for a Watch that continues an earlier watch.
const keptEvents = 1000

// Admit adds an admission plugin. Plugins are called in the order in which they were added.
func Admit(admission Admission) Option {
	return func(o *options) { o.admission = append(o.admission, admission) }
}

// Clock sets the clock for timestamps. The default is time.Now.
func Clock(now func() time.Time) Option { return func(o *options) { o.clock = now } }

// New returns a cluster that holds the given Objects and namespaces. It returns a *deploy.InvalidManifestError for an
// object that no server could have stored. For an object of an unknown kind it returns a *deploy.KindUnknownError: pass
// its CustomResourceDefinition, too, or use AnyKind.
func New(opts ...Option) (*Cluster, error) {
	o := options{clock: time.Now, history: keptEvents}
	for _, option := range opts {
		option(&o)
	}
	served, err := newKinds(o)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		clock:           o.clock,
		kinds:           served,
		fields:          newFieldManagers(served),
		storage:         newStorage(),
		subscriptions:   map[*subscription]struct{}{},
		history:         history{size: o.history},
		namespacesExist: o.namespacesExist(),
		collectUnknown:  o.collectUnknown,
		admission:       o.admission,
		webhooks:        o.webhooks,
	}
	for i, obj := range o.seeds {
		if obj == nil || obj.Object == nil {
			return nil, &deploy.InvalidManifestError{Reason: fmt.Sprintf("object %d of the cluster is nil", i+1)}
		}
	}
	if err := c.seed(withNamespaces(o)); err != nil {
		return nil, err
	}
	// Seeds cause no events.
	c.history.floor = c.storage.version
	return c, nil
}

// allNamespaces is the argument of Namespaces that stands for all namespaces.
const allNamespaces = "*"

func (o options) namespacesExist() bool {
	return !slices.Contains(o.namespaces, allNamespaces) && (!o.anyKind || len(o.namespaces) > 0)
}

// Port returns the Port that sends requests to the cluster.
func (c *Cluster) Port() deploy.Port { return port{c, nil} }

// View returns the View that reads from the cluster.
func (c *Cluster) View() deploy.View { return view{c, nil} }

// Objects returns copies of all objects in the order in which they were created. To continue in another cluster, pass
// them to its option Objects.
func (c *Cluster) Objects() []*unstructured.Unstructured {
	c.mu.RLock()
	stored := c.storage.all()
	c.mu.RUnlock()
	objects := make([]*unstructured.Unstructured, len(stored))
	for i, obj := range stored {
		objects[i] = obj.DeepCopy()
	}
	return objects
}

// Wait waits until every subscription has ended. A subscription ends after its context has ended.
func (c *Cluster) Wait() { c.running.Wait() }

// timestamp returns the current time in the format of metadata.
func (c *Cluster) timestamp() string { return c.clock().UTC().Format(time.RFC3339) }

// interrupted returns an error, as the client of a server would, if the context of a request has ended. Otherwise it
// returns nil.
func interrupted(ctx context.Context, verb Verb, ref deploy.Ref) error {
	ended := ctx.Err()
	if ended == nil {
		return nil
	}
	if cause := context.Cause(ctx); !errors.Is(cause, ended) {
		ended = fmt.Errorf("%w: %w", ended, cause)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &deploy.TimeoutError{Ref: ref, Reason: "no answer to " + string(verb), Err: ended}
	}
	return fmt.Errorf("%s of %s: %w", verb, ref, ended)
}

// seed stores the first objects. It reserves their uids before it generates other uids.
func (c *Cluster) seed(seeds []*unstructured.Unstructured) error {
	uids := map[types.UID]deploy.Ref{}
	for _, obj := range seeds {
		ref, uid := deploy.RefOf(obj), obj.GetUID()
		if other, taken := uids[uid]; taken && uid != "" {
			return &deploy.InvalidManifestError{Ref: ref, Reason: fmt.Sprintf("its uid %s is also the uid of %s", uid, other)}
		}
		uids[uid] = ref
		c.storage.claimUID(uid)
	}
	for _, obj := range seeds {
		// Custom resources may come before their CustomResourceDefinition.
		if deploy.RefOf(obj).Kind.GroupKind() == definitionKind {
			c.kinds.define(obj)
		}
	}
	namespaces := givenNamespaces(seeds)
	for _, obj := range seeds {
		if err := c.seedOne(obj, namespaces); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) seedOne(obj *unstructured.Unstructured, namespaces map[string]bool) error {
	ref := deploy.RefOf(obj)
	invalid := func(reason string) error { return &deploy.InvalidManifestError{Ref: ref, Reason: reason} }
	switch {
	case ref.Kind.Kind == "":
		return invalid("kind is missing")
	case ref.Kind.Version == "":
		return invalid("apiVersion is missing")
	case obj.IsList():
		return invalid("it is a list: pass its items one by one")
	case c.storage.get(addressOf(ref)) != nil:
		return invalid("it is given twice")
	case obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0:
		return invalid("it has a deletionTimestamp but no finalizers: such an object is gone")
	}
	d, err := c.kinds.of(ref.Kind)
	if err != nil {
		return err
	}
	next, err := asSent(obj)
	if err != nil {
		return invalid(err.Error())
	}
	if unknown := d.unknown(next, false); len(unknown) > 0 {
		return invalid("unknown field " + unknown[0].Path)
	}
	if misfit := misfits(d, next); len(misfit) > 0 {
		return invalid(misfit[0].Field + ": " + misfit[0].Message)
	}
	c.completeSeed(d, next)
	if err := c.validate(d, ref, next, nil); err != nil {
		return invalid(err.Error())
	}
	if err := managedfields.ValidateManagedFields(next.GetManagedFields()); err != nil {
		return invalid("metadata.managedFields: " + err.Error())
	}
	if c.namespacesExist && ref.Namespace != "" && !namespaces[ref.Namespace] {
		return invalid(fmt.Sprintf("namespace %s doesn't exist: pass it to Namespaces or to Objects", ref.Namespace))
	}
	if ref.Kind.GroupKind() == definitionKind && !c.kinds.schemaless {
		next = c.established(next)
	}
	if next, err = c.toStore(d, next); err != nil {
		return err
	}
	c.see(d)
	c.storage.put(addressOf(ref), next)
	return nil
}

// completeSeed fills in the metadata that a server sets.
func (c *Cluster) completeSeed(d *declaration, next *unstructured.Unstructured) {
	metadata := metadataOf(next)
	if next.GetUID() == "" {
		metadata["uid"] = string(c.storage.nextUID())
		c.storage.claimUID(next.GetUID())
	}
	if _, ok := metadata["creationTimestamp"].(string); !ok {
		metadata["creationTimestamp"] = c.timestamp()
	}
	if d.generation && next.GetGeneration() == 0 {
		metadata["generation"] = int64(1)
	}
	tidy(metadata)
}
