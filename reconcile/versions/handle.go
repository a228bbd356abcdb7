package versions

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// handle answers what a version asks.
func (l *life) handle(ctx context.Context, method string, body wire.Raw) (any, error) {
	switch method {
	case wire.Get, wire.List, wire.Own, wire.Follow, wire.Delete:
		var r wire.Read
		if err := wire.Decode(body, &r); err != nil {
			return nil, err
		}
		s := l.pool.session(r.Session)
		if s == nil || s.life != l {
			return nil, fmt.Errorf("%s: asked for outside of a session: pass on the context that the method was given", r.Ref.Ref())
		}
		return s.read(ctx, method, r)
	case wire.Scope:
		var k wire.Kind
		return decoded(body, &k, func() (any, error) {
			return l.anyPort(func(p deploy.Port) (any, error) { return p.Scope(ctx, k.GVK()) })
		})
	case wire.Kinds:
		var name string
		return decoded(body, &name, func() (any, error) {
			return l.anyPort(func(p deploy.Port) (any, error) { return kindsOf(p.Kinds(ctx, name)) })
		})
	case wire.Event:
		var r wire.Recorded
		return decoded(body, &r, func() (any, error) { return nil, l.record(r) })
	case wire.Log:
		var line wire.Logged
		return decoded(body, &line, func() (any, error) { return nil, l.logged(line) })
	case wire.Bring, wire.Failed:
		var b wire.Brought
		return decoded(body, &b, func() (any, error) { return nil, l.pool.bring(method, b) })
	case wire.Known:
		var k wire.Kind
		return decoded(body, &k, func() (any, error) { return wire.KeysOf(l.pool.known(k.GVK())), nil })
	}
	return nil, fmt.Errorf("%q: there is no such call: the version is newer than its manager", method)
}

func decoded(body wire.Raw, target any, answer func() (any, error)) (any, error) {
	if err := wire.Decode(body, target); err != nil {
		return nil, err
	}
	return answer()
}

func kindsOf(found []schemaKind, err error) ([]wire.Kind, error) {
	kinds := make([]wire.Kind, len(found))
	for i, kind := range found {
		kinds[i] = wire.NewKind(kind)
	}
	return kinds, err
}

// anyPort asks the cluster by way of any session: all have one.
func (l *life) anyPort(ask func(deploy.Port) (any, error)) (any, error) {
	l.pool.mu.Lock()
	var port deploy.Port
	for _, s := range l.pool.sessions {
		port = s.local.Manager().Port()
		break
	}
	l.pool.mu.Unlock()
	if port == nil {
		return nil, fmt.Errorf("asked for outside of a session: pass on the context that the method was given")
	}
	return ask(port)
}

// read answers a read of a session, or does what it asks for.
func (s *session) read(ctx context.Context, method string, r wire.Read) (any, error) {
	ref, manager := r.Ref.Ref(), s.local.Manager()
	switch {
	case method == wire.Own:
		return nil, s.local.Own(ctx, ref.Kind)
	case method == wire.Follow:
		return nil, s.local.Follow(ctx, ref)
	case method == wire.Delete:
		return nil, s.remove(ctx, ref, types.UID(r.UID))
	case method == wire.Get && r.Live:
		return found(manager.Port().Get(ctx, ref))
	case method == wire.Get:
		return found(manager.View().Get(ctx, ref))
	}
	selector, err := labels.Parse(r.Labels)
	if err != nil {
		return nil, err
	}
	if !r.Live {
		return foundAll(manager.View().List(ctx, ref.Kind, ref.Namespace, selector))
	}
	options := deploy.ListOptions{Labels: selector}
	if r.Fields != "" {
		if options.Fields, err = fields.ParseSelector(r.Fields); err != nil {
			return nil, err
		}
	}
	return foundAll(manager.Port().List(ctx, ref.Kind, ref.Namespace, options))
}

// remove deletes an object that the resource owns.
func (s *session) remove(ctx context.Context, ref deploy.Ref, uid types.UID) error {
	standIn := &unstructured.Unstructured{}
	standIn.SetGroupVersionKind(ref.Kind)
	standIn.SetNamespace(ref.Namespace)
	standIn.SetName(ref.Name)
	results, err := s.local.Manager().Delete(ctx, []*unstructured.Unstructured{standIn})
	if err != nil {
		return err
	}
	switch live := results[0].Object; {
	case live == nil:
		return &deploy.NotFoundError{Ref: ref}
	case uid != "" && live.GetUID() != uid:
		return &deploy.StaleError{Ref: ref, Err: fmt.Errorf("it has the uid %s, not %s", live.GetUID(), uid)}
	}
	return nil
}

func found(obj *unstructured.Unstructured, err error) (any, error) {
	if obj == nil || err != nil {
		return wire.Found{}, err
	}
	return wire.Found{Contents: []map[string]any{obj.Object}}, nil
}

func foundAll(objects []*unstructured.Unstructured, err error) (any, error) {
	contents := make([]map[string]any, len(objects))
	for i, obj := range objects {
		contents[i] = obj.Object
	}
	return wire.Found{Contents: contents}, err
}

// record records an event about a resource.
func (l *life) record(r wire.Recorded) error {
	if s := l.pool.about(r.About); s != nil {
		s.local.Event(event.Type(r.Type), r.Reason, "%s", r.Note)
	}
	return nil
}

// logged passes on a line.
func (l *life) logged(line wire.Logged) error {
	logger := l.pool.options.Logger
	if s := l.pool.session(line.Session); s != nil {
		logger = s.local.Logger()
	}
	ctx := l.pool.ctx
	if !logger.Enabled(ctx, slog.Level(line.Level)) {
		return nil
	}
	record := slog.NewRecord(time.Unix(0, line.Time), slog.Level(line.Level), line.Text, 0)
	for i := 0; i+1 < len(line.Attributes); i += 2 {
		record.AddAttrs(slog.String(line.Attributes[i], line.Attributes[i+1]))
	}
	record.AddAttrs(slog.String("version", l.version.name))
	return logger.Handler().Handle(ctx, record)
}

// bring passes on what an external source brings.
func (p *Pool) bring(method string, b wire.Brought) error {
	p.mu.Lock()
	active := p.targets[b.Kind.GVK()]
	p.mu.Unlock()
	switch {
	case active == nil:
	case method == wire.Failed:
		active.target.Failed(fmt.Errorf("%s", b.Text))
	default:
		active.target.Bring(wire.KeysIn(b.Keys)...)
	}
	return nil
}

func (p *Pool) known(kind schemaKind) []request.Key {
	p.mu.Lock()
	active := p.targets[kind]
	p.mu.Unlock()
	if active == nil {
		return nil
	}
	return active.target.Keys()
}
