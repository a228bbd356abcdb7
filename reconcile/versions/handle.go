package versions

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// handle answers what a version asks.
func (l *life) handle(ctx context.Context, method string, body wire.Raw) (any, error) {
	switch method {
	case wire.Get, wire.List, wire.Own, wire.Follow, wire.Delete:
		return decoded(body, func(r wire.Read) (any, error) {
			s := l.session(r.Session)
			if s == nil {
				return nil, fmt.Errorf("%s: asked for outside of a session: pass on the context that the method was given", r.Ref.Ref())
			}
			return s.read(ctx, method, r)
		})
	case wire.Scope:
		return decoded(body, func(k wire.Kind) (any, error) {
			port, err := l.port()
			if err != nil {
				return nil, err
			}
			return port.Scope(ctx, k.GVK())
		})
	case wire.Kinds:
		return decoded(body, func(name string) (any, error) {
			port, err := l.port()
			if err != nil {
				return nil, err
			}
			found, err := port.Kinds(ctx, name)
			return wire.NewKinds(found), err
		})
	case wire.Event:
		return decoded(body, func(r wire.Recorded) (any, error) { return nil, l.record(r) })
	case wire.Log:
		return decoded(body, func(line wire.Logged) (any, error) { return nil, l.logged(line) })
	case wire.Bring, wire.Failed:
		return decoded(body, func(b wire.Brought) (any, error) { return nil, l.pool.bring(b, method == wire.Failed) })
	case wire.Known:
		return decoded(body, func(k wire.Kind) (any, error) { return wire.KeysOf(l.pool.known(k.GVK())), nil })
	}
	return nil, fmt.Errorf("%q: there is no such call: the version is newer than its manager", method)
}

// decoded answers a call by what it is about.
func decoded[In any](body wire.Raw, answer func(In) (any, error)) (any, error) {
	var in In
	if err := wire.Decode(body, &in); err != nil {
		return nil, err
	}
	return answer(in)
}

// session is a session that the process describes, nil if it isn't one of its.
func (l *life) session(id string) *session {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	if s := l.pool.sessions[id]; s != nil && s.life == l {
		return s
	}
	return nil
}

// port is the cluster by way of any session of the process: all have the same.
func (l *life) port() (deploy.Port, error) {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	for _, s := range l.pool.sessions {
		if s.life == l {
			return s.local.Manager().Port(), nil
		}
	}
	return nil, fmt.Errorf("asked for outside of a session: pass on the context that the method was given")
}
