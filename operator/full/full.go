package full

import (
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/full/tracing"
)

// New is operator.New with everything on.
func New(name string, options ...operator.Option) *operator.Operator {
	versions := &versionSettings{}
	everything := []operator.Option{
		operator.Extend(tracing.FromEnvironment),
		operator.Defaults(func(c *config.Config) { c.Events.Level = config.AllEvents }),
		operator.Flags(versions.register),
		operator.Extend(versions.extension),
		operator.Command(serveVersion),
		operator.Command(setupVCS),
	}
	return operator.New(name, append(everything, options...)...)
}
