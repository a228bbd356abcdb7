package full_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/full"
	"github.com/operkit/operkit/reconcile"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestMain makes the process a version of the operator when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve-version" {
		folder, _ := os.Getwd()
		os.Exit(widgetOperator(filepath.Base(folder)).execute(os.Stdout, os.Stderr, "serve-version"))
	}
	goleak.VerifyTestMain(m)
}

// Widget renders one ConfigMap that says which release it is, with an ending that is a setting.
type Widget struct {
	release string
	ending  *string
}

func (Widget) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Widget"}
}

func (w Widget) Setup(_ context.Context, s *reconcile.Session) error {
	text := w.release
	if files := s.Assets(); files != nil {
		content, err := readText(s)
		if err != nil {
			return err
		}
		text = content
	}
	s.Add("text", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": s.Name()}, "data": map[string]any{"text": text + *w.ending},
	})
	return nil
}

func readText(s *reconcile.Session) (string, error) {
	file, err := s.Assets().Open("text")
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	var content bytes.Buffer
	_, err = content.ReadFrom(file)
	return content.String(), err
}

// newest is the release of the program that runs the tests.
const newest = "this program"

// brush is a controller that releases before didn't have.
type brush struct{}

func (brush) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Brush"}
}

func (brush) Setup(context.Context, *reconcile.Session) error { return nil }

// program is the operator of a release.
type program struct{ release string }

func widgetOperator(release string) program { return program{release} }

func (p program) execute(stdout, stderr interface{ Write([]byte) (int, error) }, args ...string) int {
	var ending string
	op := full.New("widget-operator", operator.Flags(func(set *pflag.FlagSet) {
		set.StringVar(&ending, "text.ending", "", "what the text ends with")
		if p.release == newest {
			set.String("text.colour", "", "what releases before know nothing of")
		}
	}))
	op.Control(Widget{p.release, &ending})
	if p.release == newest {
		op.Control(brush{})
	}
	return op.Execute(context.Background(), args, stdout, stderr)
}

// rendered renders a Widget that wants a version, with settings.
func rendered(t *testing.T, version string, settings ...string) (code int, stdout, stderr string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "widget.yaml")
	require.NoError(t, os.WriteFile(file, []byte("apiVersion: example.dev/v1\nkind: Widget\nmetadata: {name: w, namespace: shop}\nspec: {version: '"+version+"'}\n"), 0o644))
	var out, errs bytes.Buffer
	code = widgetOperator(newest).execute(&out, &errs, append([]string{"render", "-f", file}, settings...)...)
	return code, out.String(), errs.String()
}

// versionFolders have the program of two versions.
func versionFolders(t *testing.T) (base string) {
	t.Helper()
	base = t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	for _, version := range []string{"1.0.0", "1.1.0"} {
		require.NoError(t, os.Mkdir(filepath.Join(base, version), 0o755))
		require.NoError(t, os.Symlink(self, filepath.Join(base, version, "widget-operator")))
	}
	return base
}

func TestVersionsAsPrograms(t *testing.T) {
	t.Parallel()
	base := versionFolders(t)
	for _, row := range []struct {
		reason, version string
		settings        []string
		code            int
		want            string
	}{
		{"without a directory this program renders", "1.0.0", nil, 0, "text: this program"},
		{"the program of the version does", "1.0.0", []string{"--versions.directory", base}, 0, "text: 1.0.0"},
		{"another one for another version", "1.1.0", []string{"--versions.directory", base}, 0, "text: 1.1.0"},
		{"an override counts", "1.1.0", []string{"--versions.directory", base, "--versions.override", "1.0.0"}, 0, "text: 1.0.0"},
		{"a field that says it", "1.1.0", []string{"--versions.directory", base, "--versions.field", "metadata.name"}, 1, `there is no version "w": choose one of 1.0.0, 1.1.0`},
		{"a version that isn't there", "3.0.0", []string{"--versions.directory", base}, 1, `there is no version "3.0.0": choose one of 1.0.0, 1.1.0`},
		{"strict, by what is there", "3.0.0", []string{"--versions.directory", base, "--versions.strict"}, 1, `version "3.0.0" isn't supported: choose one of 1.0.0, 1.1.0`},
		{"a directory that isn't there", "1.0.0", []string{"--versions.directory", base + "/none"}, 1, "no such file or directory"},
		{"a duration as the core's settings have them", "1.0.0", []string{"--versions.directory", base, "--versions.idle", "1hr"}, 0, "text: 1.0.0"},
		{"an entry that no version has", "1.0.0", []string{"--versions.directory", base, "--versions.entry", "bin/x"}, 1, "has no version: a version is a folder with the program bin/x"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := rendered(t, row.version, row.settings...)
			assert.Equal(t, row.code, code, stderr)
			assert.Contains(t, stdout+stderr, row.want)
		})
	}
}

func TestVersionsAsFiles(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "source")
	release(t, source, "1.0.0", "2.0.0")
	cache := cacheFolder(t)
	settings := []string{"--vcs.repository", source, "--vcs.destination", cache + "/{version}"}
	for _, row := range []struct {
		reason, version string
		settings        []string
		code            int
		want            string
	}{
		{"the files of the version", "1.0.0", settings, 0, "text: this is 1.0.0"},
		{"another one for another version", "2.0.0", settings, 0, "text: this is 2.0.0"},
		{"a version that isn't there", "3.0.0", settings, 1, `the repository has no version "3.0.0": choose one of 1.0.0, 2.0.0`},
		{"no destination", "1.0.0", settings[:2], 1, "vcs: "},
		{"a destination of nothing", "1.0.0", settings[2:], 1, "it needs vcs.repository"},
		{"a directory in the version", "1.0.0", append(settings[:4:4], "--vcs.directory", "src"), 1, "the version has no such directory"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := rendered(t, row.version, row.settings...)
			assert.Equal(t, row.code, code, stderr)
			assert.Contains(t, stdout+stderr, row.want)
		})
	}
}

// A release has the file of a newer one, which knows more.
func TestVersionsHaveTheFileOfTheManager(t *testing.T) {
	base := versionFolders(t)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "settings.yaml"), []byte("text: {ending: '!', colour: red}\ncontrollers: [Widget, Brush]\nleader-election: {renew-deadline: 40s}\nmanifests: {disabled: true}\n"), 0o600))
	t.Chdir(folder)
	for _, row := range []struct {
		reason   string
		variable string
		flags    []string
	}{
		{"that a flag names", "", []string{"--config", "settings.yaml"}},
		{"that the environment names, from where the manager is", "settings.yaml", nil},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Setenv("WIDGET_OPERATOR_CONFIG", row.variable)
			with := append(row.flags, "--versions.directory", base, "--leader-election.duration", "1m", "--manifests.directory", folder)
			code, stdout, stderr := rendered(t, "1.0.0", with...)
			require.Zero(t, code, stderr)
			assert.Contains(t, stdout, "text: 1.0.0!")
			for _, warning := range []string{
				"settings.yaml:1: text.colour: there is no such setting",
				"this operator has no controller of the kind Brush: choose one of Widget",
				"it needs manifests.directory", // which a flag of the manager says
			} {
				assert.Contains(t, stderr, warning)
			}
		})
	}
}

// operator 8: the command is one of every binary.
func TestSetupVCS(t *testing.T) {
	t.Parallel()
	source, destination := filepath.Join(t.TempDir(), "source"), filepath.Join(t.TempDir(), "versions")
	release(t, source, "1.0.0", "2.0.0")
	setup := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := widgetOperator("").execute(&out, &out, append([]string{"setup-vcs"}, args...)...)
		return code, out.String()
	}
	t.Run("operator 8: it makes the repository", func(t *testing.T) {
		code, out := setup("-s", source, "-d", destination)
		require.Zero(t, code, out)
		code, stdout, stderr := rendered(t, "2.0.0", "--vcs.repository", destination, "--vcs.destination", cacheFolder(t)+"/{version}")
		require.Zero(t, code, stderr)
		assert.Contains(t, stdout, "text: this is 2.0.0")
	})
	t.Run("operator 8: oper8's way to write a flag", func(t *testing.T) {
		code, out := setup("-s", source, "-d", destination, "-te", "2.*", "-f")
		require.Zero(t, code, out)
		assert.Regexp(t, `1\.0\.0 +tag +no expression matches its name`, out)
	})
	t.Run("its exit codes are its own", func(t *testing.T) {
		code, out := setup("-s", source, "-d", destination, "-t", "none", "-f")
		assert.Equal(t, 3, code, out)
		code, out = setup("-s", source+"/none", "-d", destination)
		assert.Equal(t, 2, code, out)
	})
	t.Run("its help is its own", func(t *testing.T) {
		code, out := setup("--help")
		assert.Zero(t, code)
		assert.Contains(t, out, "--tag-expr")
		assert.NotContains(t, out, "--kube-api.qps")
	})
}
