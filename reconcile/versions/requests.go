package versions

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// handle serves the calls of a version.
func (proc *process) handle(ctx context.Context, method string, body wire.Raw) (any, error) {
	switch method {
	case wire.Get, wire.List, wire.Own, wire.Follow, wire.Delete:
		return wire.Answer(body, func(r wire.Read) (any, error) {
			s := proc.session(r.Session)
			if s == nil {
				return nil, fmt.Errorf("%s: read outside of a session: pass on the context that the method was given", r.Ref.Ref())
			}
			return s.read(ctx, method, r)
		})
	case wire.Scope:
		return wire.Answer(body, func(k wire.Kind) (any, error) {
			port, err := proc.port()
			if err != nil {
				return nil, err
			}
			return port.Scope(ctx, k.GVK())
		})
	case wire.Kinds:
		return wire.Answer(body, func(name string) (any, error) {
			port, err := proc.port()
			if err != nil {
				return nil, err
			}
			found, err := port.Kinds(ctx, name)
			return wire.NewKinds(found), err
		})
	case wire.Event:
		return wire.Answer(body, func(r wire.Recorded) (any, error) { return nil, proc.record(r) })
	case wire.Set:
		return wire.Answer(body, func(f wire.StatusField) (any, error) { return nil, proc.setStatus(f) })
	case wire.State:
		return wire.Answer(body, func(c wire.Condition) (any, error) { return nil, proc.setCondition(c) })
	case wire.Flush:
		return wire.Answer(body, func(session string) (any, error) { return nil, proc.flush(ctx, session) })
	case wire.Log:
		return wire.Answer(body, func(line wire.Logged) (any, error) { return nil, proc.logged(line) })
	case wire.Bring, wire.Failed:
		return wire.Answer(body, func(b wire.SourceReport) (any, error) { return nil, proc.pool.bring(b, method == wire.Failed) })
	case wire.Known:
		return wire.Answer(body, func(k wire.Kind) (any, error) { return wire.KeysOf(proc.pool.known(k.GVK())), nil })
	}
	return nil, fmt.Errorf("unknown method %q: the version is newer than its manager", method)
}

// session returns the session with that id, nil if the process has no such session.
func (proc *process) session(id string) *session {
	proc.pool.mu.Lock()
	defer proc.pool.mu.Unlock()
	if s := proc.pool.sessions[id]; s != nil && s.process == proc {
		return s
	}
	return nil
}

// port returns the port of the cluster, the same for all sessions of the process.
func (proc *process) port() (deploy.Port, error) {
	proc.pool.mu.Lock()
	defer proc.pool.mu.Unlock()
	for _, s := range proc.pool.sessions {
		if s.process == proc {
			return s.local.Manager().Port(), nil
		}
	}
	return nil, fmt.Errorf("read outside of a session: pass on the context that the method was given")
}

// read serves a read, a deletion or a watch of a session.
func (s *session) read(ctx context.Context, method string, r wire.Read) (any, error) {
	ref, manager := r.Ref.Ref(), s.local.Manager()
	switch {
	case method == wire.Own:
		return nil, s.local.Own(ctx, ref.Kind)
	case method == wire.Follow && ref.Name != "":
		return nil, s.local.Follow(ctx, ref)
	case method == wire.Delete:
		return nil, s.remove(ctx, ref, types.UID(r.UID), metav1.DeletionPropagation(r.Propagation))
	case method == wire.Get && r.Live:
		return found(manager.Port().Get(ctx, ref))
	case method == wire.Get:
		return found(manager.View().Get(ctx, ref))
	}
	selector, err := labels.Parse(r.Labels)
	if err != nil {
		return nil, err
	}
	if method == wire.Follow {
		return nil, s.local.FollowAll(ctx, ref.Kind, ref.Namespace, selector)
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

// remove deletes an object that the resource owns, if it still has that uid.
func (s *session) remove(ctx context.Context, ref deploy.Ref, uid types.UID, propagation metav1.DeletionPropagation) error {
	manager := s.local.Manager()
	live, err := manager.Port().Get(ctx, ref)
	switch {
	case err != nil:
		return err
	case live == nil:
		return &deploy.NotFoundError{Ref: ref}
	case uid != "" && live.GetUID() != uid:
		return &deploy.StaleError{Ref: ref, Err: fmt.Errorf("it has the uid %s, not %s", live.GetUID(), uid)}
	}
	var options []deploy.Option
	if propagation != "" {
		options = append(options, deploy.Propagate(propagation))
	}
	results, err := manager.Delete(ctx, []*unstructured.Unstructured{live}, options...)
	if err == nil && results[0].Action == deploy.Skipped && results[0].Object == nil {
		return &deploy.NotFoundError{Ref: ref}
	}
	return err
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

// record records an event about the resource of a session.
func (proc *process) record(r wire.Recorded) error {
	if s := proc.session(r.Session); s != nil {
		s.local.Event(event.Type(r.Type), r.Reason, "%s", r.Note)
	}
	return nil
}

// logged writes a log line of the version.
func (proc *process) logged(line wire.Logged) error {
	logger := proc.pool.options.Logger
	if s := proc.session(line.Session); s != nil {
		logger = s.local.Logger()
	}
	for i := 0; i+1 < len(line.Attributes); i += 2 {
		if line.Attributes[i] == logging.Channel {
			logger = logger.With(logging.Channel, line.Attributes[i+1]) // the channel may have its own level
		}
	}
	ctx := proc.pool.ctx
	if !logger.Enabled(ctx, slog.Level(line.Level)) {
		return nil
	}
	at := time.Time{}
	if line.Time != 0 {
		at = time.Unix(0, line.Time)
	}
	record := slog.NewRecord(at, slog.Level(line.Level), line.Text, 0)
	for i := 0; i+1 < len(line.Attributes); i += 2 {
		if line.Attributes[i] != logging.Channel {
			record.AddAttrs(slog.String(line.Attributes[i], line.Attributes[i+1]))
		}
	}
	record.AddAttrs(slog.String("version", proc.version.name))
	return logger.Handler().Handle(ctx, record)
}
