package leader

import (
	"fmt"

	"github.com/operkit/operkit/deploy"
)

// newElector checks what all locks need. replica is the name of this replica without anything random.
func newElector(what string, port deploy.Port, name string, opts []Option,
	newLock func(ref deploy.Ref, o options, replica string) (lock, string)) (*Elector, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if port == nil {
		return nil, fmt.Errorf("%s: the port is nil", what)
	}
	namespace, base, err := o.place(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	replica, err := o.replica()
	if err != nil {
		return nil, fmt.Errorf("%s %s/%s: %w", what, namespace, base, err)
	}
	lock, identity := newLock(deploy.Ref{Namespace: namespace, Name: base}, o, replica)
	return &Elector{lock: lock, options: o, identity: identity, reporter: newReporter(o, lock, identity)}, nil
}
