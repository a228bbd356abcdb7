package leader

import (
	"context"
	"maps"
	"math"
	"reflect"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// fieldManager is the field manager of all writes.
const fieldManager = "leader-election"

var leaseKind = schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}

// Lease returns an elector that leads while it holds the Lease called name: "namespace/name", or "name" alone in the
// namespace of the Pod's service account. The Lease is created if there is none. It may be a Lease of the leader
// election of client-go: each of the two respects a Lease that the other holds. port sends the requests. It should be
// the Port of a separate client, so that renewals never wait behind the work's requests, and must not go through
// Transport. Nothing is sent before Run.
func Lease(port deploy.Port, name string, opts ...Option) (*Elector, error) {
	return newElector("lease", port, name, opts, func(ref deploy.Ref, o options, replica string) (lock, string) {
		ref.Kind = leaseKind
		identity := unique(replica)
		return &lease{port: port, ref: ref, options: o, identity: identity}, identity
	})
}

// lease is a lock in a Lease.
type lease struct {
	port     deploy.Port
	ref      deploy.Ref
	options  options
	identity string

	// ours is the Lease as this replica wrote it last.
	ours *unstructured.Unstructured
	// seen is the spec that another holder wrote last, and since is when this replica first saw that spec.
	seen  map[string]any
	since time.Time
}

func (l *lease) String() string { return l.ref.String() }

func (l *lease) rights() string {
	return "get, create and update of leases.coordination.k8s.io in namespace " + l.ref.Namespace
}

// take makes this replica the holder of a Lease that is free, has run out, or is ours because an answer was lost.
func (l *lease) take(ctx context.Context) (standing, error) {
	current, err := l.port.Get(ctx, l.ref)
	if err != nil {
		return standing{}, err
	}
	if current == nil {
		return l.create(ctx, record{transitions: 1})
	}
	found := recordOf(current)
	switch {
	case found.holder == l.identity:
		return l.write(ctx, current, found)
	case found.holder == "":
		return l.write(ctx, current, found.next())
	}
	vacant := l.observe(current, found)
	if time.Now().Before(vacant) {
		return standing{holder: found.holder, vacant: vacant}, nil
	}
	return l.write(ctx, current, found.next())
}

// observe returns the time at which the Lease of another replica runs out: when this replica has seen it unchanged for
// the duration of the Lease. The times in the Lease come from another clock.
func (l *lease) observe(current *unstructured.Unstructured, found record) time.Time {
	spec, _ := current.Object["spec"].(map[string]any)
	if l.seen == nil || !reflect.DeepEqual(spec, l.seen) {
		l.seen, l.since = spec, time.Now()
	}
	duration := found.duration
	if duration <= 0 {
		duration = time.Duration(l.options.seconds()) * time.Second
	}
	return l.since.Add(duration)
}

// keep renews the Lease, without a read if nobody else has written to it.
func (l *lease) keep(ctx context.Context) (standing, error) {
	got, err := l.write(ctx, l.ours, recordOf(l.ours))
	if !failure.Is[*deploy.StaleError](err) && !failure.Is[*deploy.NotFoundError](err) {
		return got, err
	}
	current, err := l.port.Get(ctx, l.ref)
	if err != nil {
		return standing{}, err
	}
	if current == nil {
		return l.create(ctx, recordOf(l.ours))
	}
	found := recordOf(current)
	if found.holder != l.identity {
		return standing{holder: found.holder}, nil
	}
	return l.write(ctx, current, found)
}

// create makes the Lease. If a Lease was created meanwhile, another replica has created it.
func (l *lease) create(ctx context.Context, as record) (standing, error) {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(leaseKind)
	obj.SetNamespace(l.ref.Namespace)
	obj.SetName(l.ref.Name)
	l.fill(obj, as)
	created, err := l.port.Create(ctx, obj, deploy.CreateOptions{FieldManager: fieldManager})
	if failure.Is[*deploy.AlreadyExistsError](err) {
		return standing{}, nil
	}
	return l.wrote(created, err)
}

// write replaces current, if its resourceVersion is still the present one.
func (l *lease) write(ctx context.Context, current *unstructured.Unstructured, as record) (standing, error) {
	obj := current.DeepCopy()
	l.fill(obj, as)
	updated, err := l.port.Update(ctx, obj, deploy.UpdateOptions{FieldManager: fieldManager})
	return l.wrote(updated, err)
}

func (l *lease) wrote(answer *unstructured.Unstructured, err error) (standing, error) {
	if err != nil {
		return standing{}, err
	}
	l.ours = answer
	return standing{held: true, holder: l.identity, term: recordOf(answer).transitions}, nil
}

// fill makes this replica the holder from now on.
func (l *lease) fill(obj *unstructured.Unstructured, as record) {
	now := time.Now()
	if as.holder != l.identity || as.acquired == "" {
		as.acquired = microTime(now)
	}
	as.holder, as.renewed, as.duration = l.identity, microTime(now), time.Duration(l.options.seconds())*time.Second
	as.into(obj)
	obj.SetLabels(merged(obj.GetLabels(), l.options.labels))
	obj.SetAnnotations(merged(obj.GetAnnotations(), l.options.annotations))
}

// merged returns present with more.
func merged(present, more map[string]string) map[string]string {
	if len(more) == 0 {
		return present
	}
	all := maps.Clone(more)
	for key, value := range present {
		if _, set := more[key]; !set {
			all[key] = value
		}
	}
	return all
}

// release writes a Lease that anybody can take at once. It tries again only if the Lease was changed by somebody who
// isn't a candidate, or by a renewal whose answer was lost.
func (l *lease) release(ctx context.Context) (bool, error) {
	err := l.vacate(ctx, l.ours)
	if !failure.Is[*deploy.StaleError](err) {
		return err == nil, err
	}
	current, err := l.port.Get(ctx, l.ref)
	if err != nil || current == nil {
		return false, err
	}
	if recordOf(current).holder != l.identity {
		return false, nil
	}
	err = l.vacate(ctx, current)
	return err == nil, err
}

func (l *lease) vacate(ctx context.Context, current *unstructured.Unstructured) error {
	obj := current.DeepCopy()
	as := recordOf(obj)
	as.holder, as.duration, as.renewed = "", time.Second, microTime(time.Now())
	as.into(obj)
	_, err := l.port.Update(ctx, obj, deploy.UpdateOptions{FieldManager: fieldManager})
	return err
}

// record is the part of a Lease that describes its holder. A value that is missing or has another type is zero.
type record struct {
	holder            string
	duration          time.Duration
	acquired, renewed string
	transitions       int64
}

func recordOf(obj *unstructured.Unstructured) record {
	spec, _ := obj.Object["spec"].(map[string]any)
	var r record
	r.holder, _ = spec["holderIdentity"].(string)
	r.acquired, _ = spec["acquireTime"].(string)
	r.renewed, _ = spec["renewTime"].(string)
	r.transitions, _ = spec["leaseTransitions"].(int64)
	seconds, _ := spec["leaseDurationSeconds"].(int64)
	r.duration = time.Duration(min(seconds, math.MaxInt32)) * time.Second
	return r
}

// next returns the record for a new holder. The count of transitions stays within the limit of the API.
func (r record) next() record {
	if r.transitions >= math.MaxInt32 {
		return record{transitions: 1}
	}
	return record{transitions: r.transitions + 1}
}

// into writes the record into obj and leaves other fields alone.
func (r record) into(obj *unstructured.Unstructured) {
	spec, _ := obj.Object["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	spec["leaseDurationSeconds"] = int64(r.duration / time.Second)
	spec["leaseTransitions"] = r.transitions
	spec["renewTime"] = r.renewed
	setText(spec, "acquireTime", r.acquired)
	setText(spec, "holderIdentity", r.holder)
	obj.Object["spec"] = spec
}

func setText(spec map[string]any, field, value string) {
	if value == "" {
		delete(spec, field)
		return
	}
	spec[field] = value
}

// microTime returns a time as a Lease holds it.
func microTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
