package operator

import (
	"context"
	"errors"
	"fmt"
)

// preparation is a function that Prepare was given.
type preparation struct {
	name string
	load func(ctx context.Context, p Process) error
}

// Prepare adds a function that commands other than run call before they look for the kinds of DriveKinds in the
// cluster, such as status and release. It loads what the selectors depend on, which a function of Startup loads for the
// command run. It must start nothing that goes on when it has returned, and change nothing in the cluster. Several are
// called in the order of the options. An error or a panic ends the command, with the name of the preparation.
func Prepare(name string, load func(ctx context.Context, p Process) error) Option {
	return func(o *Operator) { o.preparations = append(o.preparations, preparation{name, load}) }
}

func (p preparation) check() error {
	switch {
	case p.name == "":
		return errors.New("a preparation has no name: pass a name to Prepare")
	case p.load == nil:
		return fmt.Errorf("preparation %s: nil function: pass a function to Prepare", p.name)
	}
	return nil
}

// prepare calls the functions of Prepare.
func (p *process) prepare(ctx context.Context) error {
	for _, one := range p.operator.preparations {
		if err := guard(func() error { return one.load(ctx, p.about()) }); err != nil {
			logPanic(p.logger, err)
			return fmt.Errorf("preparation %s: %w", one.name, err)
		}
	}
	return nil
}
