package wire

import (
	"errors"
	"time"

	"github.com/operkit/operkit/deploy"
)

// typed is one type of error that is told by its name.
type typed struct {
	name string
	// find tells whether there is one in err, and what p has to say of it.
	find func(err error, p *Problem) bool
	make func(p *Problem) error
}

// types are those of which the other side can make use. Of several in one error the first of these is told.
var types = []typed{
	{
		"KindUnknown",
		finding(func(e *deploy.KindUnknownError, p *Problem) { p.Ref = NewRef(deploy.Ref{Kind: e.Kind}) }),
		func(p *Problem) error { return &deploy.KindUnknownError{Kind: p.Ref.Ref().Kind} },
	},
	{
		"NotFound",
		finding(func(e *deploy.NotFoundError, p *Problem) { p.Ref = NewRef(e.Ref) }),
		func(p *Problem) error { return &deploy.NotFoundError{Ref: p.Ref.Ref(), Err: errors.New(p.Text)} },
	},
	{
		"Forbidden",
		finding(func(e *deploy.ForbiddenError, p *Problem) {
			p.Ref = NewRef(deploy.Ref{Namespace: e.Namespace, Name: e.Name})
		}),
		func(p *Problem) error {
			ref := p.Ref.Ref()
			return &deploy.ForbiddenError{Namespace: ref.Namespace, Name: ref.Name, Err: errors.New(p.Text)}
		},
	},
	{
		"Unavailable",
		finding(func(e *deploy.UnavailableError, p *Problem) { p.Ref, p.Busy = NewRef(e.Ref), int64(e.RetryAfter) }),
		func(p *Problem) error {
			return &deploy.UnavailableError{Ref: p.Ref.Ref(), RetryAfter: time.Duration(p.Busy), Err: errors.New(p.Text)}
		},
	},
	{
		"Timeout",
		finding(func(e *deploy.TimeoutError, p *Problem) { p.Ref = NewRef(e.Ref) }),
		func(p *Problem) error { return &deploy.TimeoutError{Ref: p.Ref.Ref(), Err: errors.New(p.Text)} },
	},
	{
		"Owned",
		finding(func(e *deploy.OwnedError, p *Problem) { p.Ref = NewRef(e.Ref) }),
		func(p *Problem) error { return &deploy.OwnedError{Ref: p.Ref.Ref()} },
	},
	{
		"Stale",
		finding(func(e *deploy.StaleError, p *Problem) { p.Ref = NewRef(e.Ref) }),
		func(p *Problem) error {
			if !p.Passing {
				return nil // it is beside something that doesn't pass by itself
			}
			return &deploy.StaleError{Ref: p.Ref.Ref(), Err: errors.New(p.Text)}
		},
	},
}

func finding[E error](tell func(E, *Problem)) func(error, *Problem) bool {
	return func(err error, p *Problem) bool {
		var found E
		if !errors.As(err, &found) {
			return false
		}
		tell(found, p)
		return true
	}
}
