package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// Operator is a set of controllers and the commands of their binary. It is put together by
// one goroutine; then Main or Execute is called, once.
type Operator struct {
	name        string
	manager     string
	before      []string
	domain      string
	namespace   string
	defaults    []func(*config.Config)
	ownFlags    []func(*pflag.FlagSet)
	settings    []config.Option
	patches     patchSettings
	watches     []cluster.Option
	instruments []func(context.Context, Process) (Instruments, error)
	extensions  []func(context.Context, Process) (Extension, error)
	commands    []func(open Opener) *cobra.Command
	controllers []controller
	// atEnd is done when the command has ended, the last first.
	atEnd []func()
	// called is how the commands are called, if not by the name.
	called string
	// namespaceFile is where a Pod is told its namespace.
	namespaceFile string
}

// Option sets what is rarely set.
type Option func(*Operator)

// Domain sets the domain of the annotations that the operator reads and writes; default
// deploy.Domain. An operator that takes over from another framework keeps its domain, so that
// the annotations on existing resources go on working.
func Domain(domain string) Option { return func(o *Operator) { o.domain = domain } }

// FieldManager sets the name under which the operator owns the fields that it applies; default its name. An operator that takes
// over from one of another name, or from one of another framework that applied, keeps that one's: what it renders no more goes
// then, as it would have gone with the other. It must stay the same from release to release, and differ from that of every
// other operator in the cluster.
func FieldManager(name string) Option { return func(o *Operator) { o.manager = name } }

// TakeOverFrom names field managers whose work this operator goes on with, such as an operator of another name: what
// they set on the objects that this operator renders becomes its own at the first apply, and goes if it isn't rendered;
// see deploy.TakeOverFrom. They must not write these objects any more. What the operator's own field manager
// (FieldManager) wrote by other requests than applies is taken over without being named. Several options add up.
func TakeOverFrom(managers ...string) Option {
	return func(o *Operator) { o.before = append(o.before, managers...) }
}

// DefaultNamespace sets where the objects of cluster-scoped resources are that name no namespace, and the Secrets of their generated
// values; by default such objects are refused. Those of other resources are beside them.
func DefaultNamespace(name string) Option { return func(o *Operator) { o.namespace = name } }

// Watches sets what is watched and held of kinds: cluster.MetadataOnly for those of which many or large objects exist whose
// content no controller reads, such as Secrets that are only written, and cluster.Selected for those of which some objects
// alone are read. It isn't for the kinds of the controllers. Which namespaces are watched flags of the command run say.
// Several options add up.
//
//	operator.New("guestbook-operator", operator.Watches(cluster.MetadataOnly(schema.GroupKind{Kind: "Secret"})))
func Watches(options ...cluster.Option) Option {
	return func(o *Operator) { o.watches = append(o.watches, options...) }
}

// Defaults changes what holds of the settings of the operator's process when nobody says anything else: see
// config.Default. Several add up.
func Defaults(change func(*config.Config)) Option {
	return func(o *Operator) { o.defaults = append(o.defaults, change) }
}

// Flags adds settings of the program's own, which flags, the environment and the file can give like all others. Their
// values may be used once a controller's Setup runs.
func Flags(add func(*pflag.FlagSet)) Option {
	return func(o *Operator) { o.ownFlags = append(o.ownFlags, add) }
}

// Oper8Environment has settings read by the names that oper8 gave them in the environment too, see config.Oper8Environment.
func Oper8Environment() Option {
	return func(o *Operator) { o.settings = append(o.settings, config.Oper8Environment()) }
}

type controller struct {
	reconcile.Controller
	options []reconcile.Option
}

// New returns an operator without controllers. The name is the field manager under which it
// owns what it applies (see FieldManager), so it must stay the same from release to release, and
// differ from that of every other operator in the cluster.
func New(name string, options ...Option) *Operator {
	o := &Operator{name: name, manager: name, domain: deploy.Domain, namespaceFile: leader.NamespaceFile}
	for _, option := range options {
		option(o)
	}
	return o
}

// managerOptions are those of every Manager of the operator.
func (o *Operator) managerOptions() []deploy.Option {
	return []deploy.Option{deploy.FieldManager(o.manager), deploy.KeyDomain(o.domain), deploy.DefaultNamespace(o.namespace),
		deploy.TakeOverFrom(o.before...), deploy.OwnerKinds(o.controlledKinds()...)}
}

// Control adds a controller. Mistakes, such as two controllers of one kind, are reported
// when the operator starts.
func (o *Operator) Control(c reconcile.Controller, options ...reconcile.Option) {
	o.controllers = append(o.controllers, controller{c, options})
}

// Main runs the command that the program's arguments name and exits: 0 when it succeeded, 1
// when it failed or has lost the leadership, 2 for a mistake in the arguments. SIGINT and SIGTERM
// end it in good order; a second one ends it at once (spec: watch 8, mistake 7).
func (o *Operator) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // it stands for main
	// With the handler gone the second signal kills.
	context.AfterFunc(ctx, stop)
	// What client-go has to say about its watches is said by package cluster, once. The logger of
	// client-go is the whole process's, so it is set here and not where others may run too.
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	o.called = callName(os.Args[0])
	os.Exit(o.Execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Execute runs the command that args name and returns the exit code that Main ends with. It
// ends when ctx does.
func (o *Operator) Execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := o.command()
	command.SetArgs(args)
	command.SetOut(stdout)
	command.SetErr(stderr)
	err := command.ExecuteContext(ctx)
	for _, end := range slices.Backward(o.atEnd) {
		end()
	}
	if err == nil {
		return 0
	}
	var exit *exitError
	if errors.As(err, &exit) && errors.Is(exit.err, errDifferent) {
		return exit.code
	}
	fmt.Fprintf(stderr, "%s: %v\n", o.callName(), err)
	if exit != nil {
		return exit.code
	}
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	var usage *usageError
	var settings *config.Error
	if errors.As(err, &usage) || errors.As(err, &settings) {
		return 2
	}
	return 1
}

// callName is how kubectl's users call a program that is one of its plugins by its name, "kubectl NAME"; empty for others.
func callName(program string) string {
	plugin, is := strings.CutPrefix(strings.TrimSuffix(filepath.Base(program), ".exe"), "kubectl-")
	if !is {
		return ""
	}
	return "kubectl " + strings.ReplaceAll(plugin, "_", "-")
}

// callName is how the commands are called.
func (o *Operator) callName() string { return cmp.Or(o.called, o.name) }

// exitError ends a command with an exit code of its own.
type exitError struct {
	err  error
	code int
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usageError is a mistake in the arguments.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

func (o *Operator) check() error {
	if o.name == "" {
		return errors.New("the operator has no name: give New one")
	}
	if len(o.controllers) == 0 {
		return errors.New("the operator has no controller: call Control before Main")
	}
	for _, c := range o.controllers {
		if c.Controller == nil {
			return errors.New("controller: is nil")
		}
		if kind := c.Kind(); kind.Kind == "" || kind.Version == "" {
			return fmt.Errorf("controller %T: its kind %q needs a version and a kind", c.Controller, kind)
		}
	}
	return nil
}
