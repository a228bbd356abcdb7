package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/operkit/operkit/tools/check/controlplane"
	"github.com/operkit/operkit/tools/check/internal/gotest"
	"github.com/operkit/operkit/tools/check/internal/hygiene"
	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/envtest/devcluster"
)

// soakVariable is the variable that makes tests run in full that by default run only a small sample, such as random
// walks and kills at every write.
const soakVariable = "OPERKIT_SOAK"

// exploreVariable is the variable that sets how long each exploration of package reconciletest/explore takes, and
// exploreTime is that of a long run: those of all examples take an hour.
const (
	exploreVariable = "OPERKIT_EXPLORE"
	exploreTime     = "275s"
)

const (
	// onceTimeout is how long the tests of one package may take in one run.
	onceTimeout = 10 * time.Minute
	// soakTimeout is how long the tests of one package may take with -soak.
	soakTimeout = 4 * time.Hour
)

func prepareTest(flags *flag.FlagSet) func(context.Context, environment) error {
	modules := flags.String("module", "", "the folders of the modules to test, separated by commas (default: all)")
	count := flags.Int("count", 0, "run each test this often; 0 lets the go command use cached results")
	run := flags.String("run", "", "run only tests that this regular expression matches; such a run proves no rules")
	soak := flags.Bool("soak", false, "set "+soakVariable+"=1 and "+exploreVariable+"="+exploreTime+", so that long tests run in full")
	return func(ctx context.Context, env environment) error {
		chosen, err := repository.Select(env.repository.Modules, *modules)
		if err != nil {
			return err
		}
		runner := &gotest.Runner{
			Repository: env.repository, Stdout: env.stdout, Stderr: env.stderr, Count: *count, Run: *run, Named: *modules != "",
			Timeout: onceTimeout * time.Duration(max(1, *count)),
		}
		if runner.Fingerprint, err = env.repository.Fingerprint(); err != nil {
			return err
		}
		if *soak {
			runner.Count, runner.Timeout = max(1, *count), soakTimeout
			runner.Env = append(runner.Env, soakVariable+"=1", exploreVariable+"="+exploreTime)
		}
		tally, err := testModules(ctx, env, runner, chosen)
		if err == nil && tally == (gotest.Tally{}) {
			err = errors.New("no test ran")
		}
		if err != nil {
			_, _ = fmt.Fprintf(env.stderr, "check test: %v\n", err)
			tally.Failed = max(1, tally.Failed) // an error that prevented tests from running counts as a failure
		}
		_, _ = fmt.Fprintln(env.stdout, tally)
		if err != nil || !tally.OK() {
			return errFailed
		}
		return nil
	}
}

// testModules starts the control plane if a test needs it, runs the tests, and stops the control plane.
func testModules(
	ctx context.Context, env environment, runner *gotest.Runner, chosen []repository.Module,
) (tally gotest.Tally, err error) {
	race, reason, err := gotest.RaceDetector(ctx, os.Environ())
	if err != nil {
		return tally, err
	}
	runner.Race = race
	if race {
		_, _ = fmt.Fprintln(env.stdout, "race detector: on")
	} else {
		_, _ = fmt.Fprintf(env.stdout, "race detector: off, %s\n", reason)
	}
	needed, err := controlplane.Needed(ctx, env.repository, chosen)
	if err != nil {
		return tally, err
	}
	runner.Waiting = controlplane.Waits
	given := os.Getenv(devcluster.Variable)
	starts := needed && given == ""
	if needed && !starts {
		_, _ = fmt.Fprintf(env.stdout, "control plane: the one in %s (%s)\n", given, devcluster.Variable)
	}
	if !starts && !slices.ContainsFunc(chosen, repository.Module.IsControlPlane) {
		return runner.All(ctx, chosen)
	}
	binary, err := controlplane.Binary(ctx, env.stderr)
	if err != nil {
		return tally, err
	}
	runner.Env = append(runner.Env, devcluster.BinaryVariable+"="+binary)
	if !starts {
		return runner.All(ctx, chosen)
	}
	start := time.Now()
	plane, err := controlplane.Start(ctx, env.repository.Root, binary, env.stderr)
	if err != nil {
		return tally, err
	}
	defer func() { err = errors.Join(err, plane.Stop(context.WithoutCancel(ctx))) }()
	_, _ = fmt.Fprintf(env.stdout, "control plane: ready after %.1fs, in %s\n", time.Since(start).Seconds(), plane.Dir)
	runner.Env = append(runner.Env, devcluster.Variable+"="+plane.Dir)
	tally, err = runner.All(ctx, chosen)
	return tally, errors.Join(err, plane.Alive())
}

func prepareFuzz(flags *flag.FlagSet) func(context.Context, environment) error {
	modules := flags.String("module", "", "the folders of the modules to fuzz, separated by commas (default: all)")
	each := flags.Duration("time", time.Minute, "how long each target runs")
	return func(ctx context.Context, env environment) error {
		chosen, err := repository.Select(env.repository.Modules, *modules)
		if err != nil {
			return err
		}
		runner := &gotest.Runner{Repository: env.repository, Stdout: env.stdout, Stderr: env.stderr}
		return runner.Fuzz(ctx, chosen, *each)
	}
}

func prepareGenerate(*flag.FlagSet) func(context.Context, environment) error {
	return func(ctx context.Context, env environment) error {
		return hygiene.Generate(ctx, env.repository, env.stdout)
	}
}
