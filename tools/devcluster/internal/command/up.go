package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/devcluster/internal/cluster"
	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

// clusterFlags are the flags of every command that starts a cluster.
type clusterFlags struct {
	components []string
	crds       []string
	gates      []string
	audit      bool
	port       int
	timeout    time.Duration
}

func (f *clusterFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.components, "components", nil,
		"what to run (default "+component.All().String()+"); etcd and apiserver are always needed")
	flags.StringArrayVar(&f.crds, "crds", nil,
		"directory or file of CustomResourceDefinitions, installed before the controller-manager starts; may be repeated")
	flags.BoolVar(&f.audit, "audit", false, "write DIR/audit.log")
	flags.StringSliceVar(&f.gates, "feature-gates", nil, "such as A=true,B=false, for apiserver, controller-manager and scheduler")
	flags.IntVar(&f.port, "port", 0, "port of the API server on 127.0.0.1 (default any free one)")
	flags.DurationVar(&f.timeout, "start-timeout", cluster.DefaultStartTimeout, "how long the start may take")
}

// options returns the options for the flags. It checks everything that can be checked before the start.
func (f *clusterFlags) options(p *Program, dir workdir.Dir) (cluster.Options, error) {
	components, err := component.ParseSet(f.components)
	if err != nil {
		return cluster.Options{}, err
	}
	gates := strings.Join(f.gates, ",")
	if err := p.CheckGates(gates); err != nil {
		return cluster.Options{}, fmt.Errorf("feature gates %s: %w", gates, err)
	}
	if f.port < 0 || f.port > 65535 {
		return cluster.Options{}, fmt.Errorf("port %d is not a port number", f.port)
	}
	crds := make([]string, len(f.crds))
	for i, path := range f.crds {
		if crds[i], err = filepath.Abs(path); err != nil {
			return cluster.Options{}, fmt.Errorf("CRDs %s: %w", path, err)
		}
	}
	return cluster.Options{
		Dir: dir, Executable: p.executable, Components: components, CRDs: crds, Audit: f.audit,
		FeatureGates: gates, Port: f.port, Version: p.Version, KwokConfig: p.KwokConfig, StartTimeout: f.timeout,
	}, nil
}

type upFlags struct {
	clusterFlags
	detach   bool
	untilEOF bool
	detached bool
}

func newUp(p *Program) *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a cluster, and stop it on Ctrl-C",
		Long: `Start a cluster with fresh state and run it until SIGINT or SIGTERM, until 'devcluster down', or,
with --until-eof, until the standard input ends. When a component ends by itself the cluster ends
too, with the tail of its log and a non-zero exit code.`,
		Args: cobra.NoArgs,
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&f.detach, "detach", false, "return when the cluster is ready and leave it running")
	cmd.Flags().BoolVar(&f.untilEOF, "until-eof", false, "end when the standard input ends")
	cmd.Flags().BoolVar(&f.detached, "detached", false, "be the supervisor that --detach leaves running")
	_ = cmd.Flags().MarkHidden("detached") // fails only for a flag that is not there
	cmd.MarkFlagsMutuallyExclusive("detach", "until-eof")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return p.up(cmd.Context(), f) }
	return cmd
}

func (p *Program) up(ctx context.Context, f upFlags) error {
	dir, err := p.resolve()
	if err != nil {
		return err
	}
	options, err := f.options(p, dir)
	if err != nil {
		return err
	}
	if f.detach {
		return p.detach(options)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if f.untilEOF {
		options.Temporary = true
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer cancel(nil)
		go func() {
			_, _ = io.Copy(io.Discard, p.Stdin)
			cancel(errors.New("the standard input ended"))
		}()
	}
	options.Progress = func(line string) { fmt.Fprintln(p.Stdout, line) }
	running, err := cluster.Start(ctx, options)
	if err != nil {
		return err
	}
	defer running.Stop()
	fmt.Fprintln(p.Stdout, p.usage(dir, f))
	if f.detached {
		if err := redirect(dir.SupervisorLog()); err != nil {
			return err
		}
	}
	return running.Wait(ctx)
}

// usage returns the last line of a start, with commands to use the cluster.
func (p *Program) usage(dir workdir.Dir, f upFlags) string {
	end := "Ctrl-C stops it"
	switch {
	case f.detached:
		end = fmt.Sprintf("%s down --dir %s stops it", p.executable, dir)
	case f.untilEOF:
		end = "the end of the standard input stops it"
	}
	return fmt.Sprintf("ready: export KUBECONFIG=%s, or use %s kubectl --dir %s get nodes; %s", dir.Kubeconfig(), p.executable, dir, end)
}
