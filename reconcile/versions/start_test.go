package versions_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/versions"
	"github.com/operkit/operkit/reconcile/versions/child"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func itoa(n int) string { return strconv.Itoa(n) }

// said answers the hello with a declaration, and all else by answer.
func said(declaration wire.Declaration, answer wire.Handler) error {
	peer := wire.NewPeer(os.Stdin, os.Stdout, func(ctx context.Context, method string, body wire.Raw) (any, error) {
		if method == wire.Hello {
			return declaration, nil
		}
		return answer(ctx, method, body)
	})
	err := peer.Run(context.Background())
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

var labDeclaration = wire.Declaration{Protocol: wire.Protocol, Kinds: []wire.ControlledKind{{Kind: wire.NewKind(labs)}}}

func init() {
	programs["exits"] = func(context.Context, string) error {
		for i := range 10 {
			fmt.Fprintln(os.Stderr, "line", i)
		}
		return errors.New("no licence was found")
	}
	programs["hangs"] = func(context.Context, string) error {
		_, _ = io.Copy(io.Discard, os.Stdin)
		time.Sleep(time.Hour) // nor does it end when it is told to
		return nil
	}
	programs["prints"] = func(context.Context, string) error {
		fmt.Println("Welcome to the operator, which knows nothing of versions.")
		time.Sleep(time.Hour)
		return nil
	}
	programs["future"] = func(context.Context, string) error {
		return said(wire.Declaration{Protocol: 9, Kinds: labDeclaration.Kinds}, nil)
	}
	programs["kindless"] = func(context.Context, string) error { return said(wire.Declaration{Protocol: wire.Protocol}, nil) }
	programs["uncontrolled"] = func(ctx context.Context, _ string) error { return child.Serve(ctx, "", nil) }
	programs["twice"] = func(ctx context.Context, version string) error {
		return child.Serve(ctx, "", []reconcile.Controller{Lab{version}, Lab{version}})
	}
	programs["galaxy"] = func(context.Context, string) error {
		return said(wire.Declaration{Protocol: wire.Protocol, Kinds: []wire.ControlledKind{{Kind: wire.NewKind(labs), Scope: "Galaxy"}}}, nil)
	}
	programs["scopes"] = func(_ context.Context, version string) error {
		scope := map[string]string{"1.0.0": "Cluster"}[version]
		return said(wire.Declaration{Protocol: wire.Protocol, Kinds: []wire.ControlledKind{{Kind: wire.NewKind(labs), Scope: scope}}}, nil)
	}
	programs["brief"] = func(context.Context, string) error { // ends after its hello
		peer := wire.NewPeer(os.Stdin, os.Stdout, func(context.Context, string, wire.Raw) (any, error) {
			time.AfterFunc(50*time.Millisecond, func() { os.Exit(7) })
			return labDeclaration, nil
		})
		return peer.Run(context.Background())
	}
	programs["closes"] = func(context.Context, string) error { // its output, and stays
		in := bufio.NewReader(os.Stdin)
		_, _ = in.ReadByte()
		_ = os.Stdout.Close()
		time.Sleep(time.Hour)
		return nil
	}
}

// What keeps a version from being served is known at the start, with what its program has to say of it.
func TestProgramsThatArentVersions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, program, wrong string }{
		{"one that ends at once", "exits", "version 1.0.0: its process has ended: exit status 1: line 6; line 7; line 8; line 9; no licence was found"},
		{"one that never answers, and doesn't end when it is told to", "hangs", "version 1.0.0: no answer within 1s: does the program call child.Serve?"},
		{"one that prints", "prints", "version 1.0.0: invalid data on the standard output of its process: a message of 1466264675 bytes is announced"},
		{"one of another protocol", "future", "version 1.0.0: it has protocol 9, and this manager has protocol 1: update the older of the two"},
		{"one that controls nothing", "kindless", "version 1.0.0: it controls no kind"},
		{"one without a controller", "uncontrolled", "serve: no controllers"},
		{"one with two controllers of a kind", "twice", "version 1.0.0: controller versions_test.Lab: the kind Lab has a controller already"},
		{"one with a scope that there isn't", "galaxy", `version 1.0.0: it declares the scope "Galaxy" of the kind Lab`},
		{"one that closes its output and stays", "closes", "version 1.0.0: its process has ended: signal: killed"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			options := folder(t, row.program, "1.0.0")
			options.StopTimeout = 200 * time.Millisecond
			if row.program == "hangs" {
				options.StartTimeout = time.Second
			}
			_, err := versions.Start(t.Context(), options)
			require.ErrorContains(t, err, row.wrong)
		})
	}
	t.Run("versions that don't agree", func(t *testing.T) {
		t.Parallel()
		_, err := versions.Start(t.Context(), folder(t, "scopes", "1.0.0", "1.1.0"))
		require.ErrorContains(t, err, "version 1.1.0: declares another scope of the kind Lab than the versions before it")
	})
	t.Run("each is named", func(t *testing.T) {
		t.Parallel()
		_, err := versions.Start(t.Context(), folder(t, "exits", "1.0.0", "1.1.0"))
		require.ErrorContains(t, err, "version 1.0.0: its process")
		require.ErrorContains(t, err, "version 1.1.0: its process")
	})
	t.Run("one that may not be executed", func(t *testing.T) {
		t.Parallel()
		options := folder(t, "lab", "1.0.0")
		require.NoError(t, os.MkdirAll(filepath.Join(options.Directory, "1.1.0", "bin"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(options.Directory, "1.1.0", "bin", "lab"), []byte("#!/bin/sh\n"), 0o600))
		_, err := versions.Start(t.Context(), options)
		require.ErrorContains(t, err, "version 1.1.0: its program can't be started: ")
		require.ErrorContains(t, err, "permission denied")
	})
	t.Run("one that is no program", func(t *testing.T) {
		t.Parallel()
		options := folder(t, "lab")
		require.NoError(t, os.MkdirAll(filepath.Join(options.Directory, "1.1.0", "bin"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(options.Directory, "1.1.0", "bin", "lab"), []byte("text"), 0o700))
		_, err := versions.Start(t.Context(), options)
		require.ErrorContains(t, err, "version 1.1.0: its program can't be started: ")
	})
}

func TestDirectories(t *testing.T) {
	t.Parallel()
	t.Run("one that isn't there", func(t *testing.T) {
		t.Parallel()
		_, err := versions.Start(t.Context(), versions.Options{Directory: filepath.Join(t.TempDir(), "nowhere"), Entry: "lab"})
		require.ErrorContains(t, err, "versions: the directory can't be read: open ")
		require.ErrorIs(t, err, os.ErrNotExist)
	})
	t.Run("an empty one", func(t *testing.T) {
		t.Parallel()
		directory := t.TempDir()
		_, err := versions.Start(t.Context(), versions.Options{Directory: directory, Entry: "lab"})
		require.EqualError(t, err, "versions: directory "+directory+" has no version: a version is a folder with the program lab")
	})
	t.Run("what is in it beside versions, and versions of strange names", func(t *testing.T) {
		t.Parallel()
		options := folder(t, "lab", "1.0.0", "2.0.0 beta", "-rc", "1.0.0+build.7", "..data", ".hidden")
		require.NoError(t, os.Mkdir(filepath.Join(options.Directory, "empty"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(options.Directory, "README"), nil, 0o600))
		require.NoError(t, os.MkdirAll(filepath.Join(options.Directory, "folder", "bin", "lab"), 0o755))
		require.NoError(t, os.Symlink("nowhere", filepath.Join(options.Directory, "broken")))
		require.NoError(t, os.Symlink("1.0.0", filepath.Join(options.Directory, "latest")))
		pool := start(t, options)
		assert.Equal(t, []string{"-rc", "1.0.0", "1.0.0+build.7", "2.0.0 beta", "latest"}, pool.Versions())
		w := newWorld(t, pool.Controllers()[0])
		for version, wrong := range map[string]string{
			"latest": "", "2.0.0 beta": "", "": "it names no version: choose one of -rc, 1.0.0, 1.0.0+build.7, 2.0.0 beta, latest",
			"..": `there is no version "..": choose one of`, "../x": "there is no version", "/bin": "there is no version", "empty": "there is no version",
			"..data": "there is no version", "1.0.0/": "there is no version", "README": "there is no version", "1.0.0\x00": "there is no version",
		} {
			w.put(t, lab("l", map[string]any{"version": version}))
			_, err := w.reconcile(t.Context(), "l")
			if wrong == "" {
				require.NoError(t, err, version)
				continue
			}
			require.ErrorContains(t, err, wrong, version)
			assert.Equal(t, status.ErrorConfig, request.ClassOf(err), version)
		}
	})
	t.Run("options that can't be", func(t *testing.T) {
		t.Parallel()
		for wrong, options := range map[string]versions.Options{
			"no directory is given":                   {Entry: "lab"},
			"no entry is given":                       {Directory: "."},
			`entry "../lab": must be a path below`:    {Directory: ".", Entry: "../lab"},
			`entry "/bin/lab": must be a path below`:  {Directory: ".", Entry: "/bin/lab"},
			"limit and times can't be negative":       {Directory: ".", Entry: "lab", Limit: -1},
			"versions: limit and times can't be nega": {Directory: ".", Entry: "lab", StopTimeout: -1},
		} {
			_, err := versions.Start(t.Context(), options)
			require.ErrorContains(t, err, wrong)
		}
	})
}

// A folder that comes later is a version as well, as long as it asks for nothing that wasn't known at the start.
func TestVersionsThatComeLater(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, first, later, wrong string }{
		{"one like the others", "1.0.0", "1.1.0", ""},
		{"one that looks at less", "2.0.0", "1.0.0", ""},
		{"one that looks at more", "1.0.0", "2.0.0", "version 2.0.0: for the kind Lab it declares sources, conditions, or a Finalize, that no version declared at the start: start the operator again"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			options := folder(t, "lab", row.first)
			pool := start(t, options)
			w := newWorld(t, pool.Controllers()[0])
			w.put(t, lab("l", map[string]any{"version": row.later}))
			_, err := w.reconcile(t.Context(), "l")
			require.ErrorContains(t, err, fmt.Sprintf("there is no version %q: choose one of %s", row.later, row.first))
			require.NoError(t, os.Rename(filepath.Join(folder(t, "lab", row.later).Directory, row.later), filepath.Join(options.Directory, row.later)))
			_, err = w.reconcile(t.Context(), "l")
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				return
			}
			require.NoError(t, err)
			assert.ElementsMatch(t, []string{row.first, row.later}, pool.Versions())
			require.NotNil(t, w.get(t, configMaps, "l-note"))
		})
	}
	t.Run("one of another kind", func(t *testing.T) {
		t.Parallel()
		options := folder(t, "lab", "1.0.0")
		pool := start(t, options)
		w := newWorld(t, pool.Controllers()[0])
		house := folder(t, "house", "3.0.0")
		require.NoError(t, os.MkdirAll(filepath.Join(options.Directory, "3.0.0", "bin"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(options.Directory, "3.0.0", "bin", "lab"), // the entry is that of the others
			fmt.Appendf(nil, "#!/bin/sh\nexec %s/3.0.0/bin/house serve-version\n", house.Directory), 0o700))
		w.put(t, lab("l", map[string]any{"version": "3.0.0"}))
		_, err := w.reconcile(t.Context(), "l")
		require.ErrorContains(t, err, "version 3.0.0: it controls the kind House, which no version controlled at the start: start the operator again")
	})
}

func TestVersionThatDoesntKnowTheKind(t *testing.T) {
	t.Parallel()
	options := folder(t, "lab", "1.0.0")
	house := folder(t, "house", "3.0.0")
	require.NoError(t, os.MkdirAll(filepath.Join(options.Directory, "3.0.0", "bin"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(options.Directory, "3.0.0", "bin", "lab"),
		fmt.Appendf(nil, "#!/bin/sh\nexec %s/3.0.0/bin/house serve-version\n", house.Directory), 0o700))
	pool := start(t, options)
	require.Len(t, pool.Controllers(), 2)
	assert.Equal(t, labs, pool.Controllers()[0].Kind())
	w := newWorld(t, pool.Controllers()[0])
	w.put(t, lab("l", map[string]any{"version": "3.0.0"}))
	_, err := w.reconcile(t.Context(), "l")
	require.ErrorContains(t, err, "version 3.0.0 doesn't know the kind Lab")
	assert.Zero(t, pool.Report()[1].InUse)
}

// A start that somebody gives up is nobody's fault, and leaves nothing.
func TestStartThatIsGivenUp(t *testing.T) {
	t.Parallel()
	options := folder(t, "hangs", "1.0.0")
	options.StopTimeout = 10 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	before := time.Now()
	_, err := versions.Start(ctx, options)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(before), 10*time.Second)
}

// What a version has started ends with it, and what got away doesn't keep its end from being seen.
func TestProcessesThatAVersionStarts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, program string
		ends            bool
	}{
		{"one of its own group", "forks", true},
		{"one that went away from it", "daemon", false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			options := folder(t, row.program, "1.0.0")
			pool := start(t, options)
			text, err := os.ReadFile(filepath.Join(options.Directory, "1.0.0", "pid"))
			require.NoError(t, err)
			grandchild, err := strconv.Atoi(string(text))
			require.NoError(t, err)
			require.True(t, runs(t, grandchild))
			t.Cleanup(func() { kill(t, grandchild) })
			kill(t, pool.Report()[0].PID)
			soon(t, func() bool { return !pool.Report()[0].Running }, "its end is seen although somebody else has its streams")
			before := time.Now()
			pool.Close()
			assert.Less(t, time.Since(before), 4*time.Second)
			if row.ends {
				soon(t, func() bool { return !runs(t, grandchild) }, "it ends with the version")
			}
		})
	}
}

func init() {
	forking := func(attributes *syscall.SysProcAttr) func(context.Context, string) error {
		return func(ctx context.Context, version string) error {
			sleep := exec.Command("sleep", "300")
			sleep.Stdin, sleep.Stdout, sleep.Stderr, sleep.SysProcAttr = os.Stdin, os.Stdout, os.Stderr, attributes
			if err := sleep.Start(); err != nil {
				return err
			}
			if err := os.WriteFile("pid", []byte(itoa(sleep.Process.Pid)), 0o600); err != nil {
				return err
			}
			return child.Serve(ctx, "", []reconcile.Controller{Lab{version}})
		}
	}
	programs["forks"] = forking(nil)
	programs["daemon"] = forking(&syscall.SysProcAttr{Setsid: true})
}
