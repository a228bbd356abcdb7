package operator_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var boxKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Box"}

// box controls Boxes: each has Widgets, another Box, and a ConfigMap that says what a ConfigMap beside it says.
type box struct{}

func (box) Kind() schema.GroupVersionKind { return boxKind }

func (box) Setup(ctx context.Context, s *reconcile.Session) error {
	var resource struct {
		Spec struct {
			Widgets []string `json:"widgets"`
			Mistake string   `json:"mistake"`
			Box     string   `json:"box"`
		} `json:"spec"`
	}
	if err := s.Into(&resource); err != nil {
		return err
	}
	for _, name := range resource.Spec.Widgets {
		s.Add("widget-"+name, map[string]any{
			"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name}, "spec": map[string]any{"mistake": resource.Spec.Mistake},
		})
	}
	if inner := resource.Spec.Box; inner != "" {
		spec := map[string]any{}
		if resource.Spec.Mistake == "cycle" {
			spec["box"] = s.Name()
		}
		c := s.Add("box", map[string]any{"apiVersion": "example.com/v1", "kind": "Box", "metadata": map[string]any{"name": inner}, "spec": spec})
		if resource.Spec.Mistake == "disabled" {
			c.Disable()
		}
	}
	beside, err := s.Get(ctx, deploy.Ref{Kind: configMaps, Namespace: s.Namespace(), Name: "beside"})
	if err != nil {
		return err
	}
	if beside != nil {
		s.Add("label", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "label"}, "data": beside.Object["data"]})
	}
	return nil
}

// render runs the command of an operator of boxes and widgets in a folder with these files.
func render(t *testing.T, files map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "DIR", dir)
	}
	op := operator.New("box-operator")
	op.Control(box{})
	op.Control(widget{})
	var out, log bytes.Buffer
	code = op.Execute(t.Context(), args, &out, &log)
	return code, out.String(), strings.ReplaceAll(log.String(), dir, "DIR")
}

const boxed = "apiVersion: example.com/v1\nkind: Box\nmetadata: {name: big}\nspec: "

// heads are the lines that say what follows.
func heads(out string) (heads []string) {
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "# ") {
			heads = append(heads, strings.TrimSpace(line[2:]))
		}
	}
	return heads
}

func TestRender(t *testing.T) {
	t.Parallel()
	t.Run("operator 6, 23: what is rendered of the operator's own kinds is rendered too", func(t *testing.T) {
		t.Parallel()
		code, out, log := render(t, map[string]string{"a.yaml": boxed + "{widgets: [x]}"}, "render", "-f", "DIR/a.yaml")
		require.Zero(t, code, log)
		assert.Equal(t, []string{"widget-x: Widget/x", "first: ConfigMap/first", "second: ConfigMap/second"}, heads(out))
	})
	t.Run("operator 6: a mistake in that is one", func(t *testing.T) {
		t.Parallel()
		code, out, log := render(t, map[string]string{"a.yaml": boxed + "{widgets: [x], mistake: error}"}, "render", "-f", "DIR/a.yaml")
		assert.Equal(t, 1, code)
		assert.Empty(t, out)
		assert.Equal(t, "Box: "+undefined+"box-operator: DIR/a.yaml, Box big: Widget default/x: setup: the moon is in the wrong phase\n", log)
	})
	t.Run("operator 6: recursively, but none for ever", func(t *testing.T) {
		t.Parallel()
		code, out, log := render(t, map[string]string{"a.yaml": boxed + "{box: small}"}, "render", "-f", "DIR/a.yaml")
		require.Zero(t, code, log)
		assert.Equal(t, []string{"box: Box/small"}, heads(out))
		code, _, log = render(t, map[string]string{"a.yaml": boxed + "{box: small, mistake: cycle}"}, "render", "-f", "DIR/a.yaml")
		assert.Equal(t, 1, code)
		assert.Contains(t, log, "Box default/small: component box: Box default/big: exists already and was not created for this owner", "as in a cluster")
	})
	t.Run("operator 5: what is in the cluster already, of several documents, no other files", func(t *testing.T) {
		t.Parallel()
		code, out, log := render(t, map[string]string{
			"a.yaml":            boxed + "{}",
			"there/two.yml":     "---\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: beside}\ndata: {says: so}\n",
			"there/widget.yaml": sample, "there/README.md": "no: [yaml", "there/below/three.yaml": "no: [yaml",
		}, "run", "--dry-run", "--cr", "DIR/a.yaml", "--resource-dir", "DIR/there")
		require.Zero(t, code, log)
		assert.Contains(t, out, "# label: ConfigMap/label\napiVersion: v1\ndata:\n  says: so\n")
		assert.Equal(t, []string{"label: ConfigMap/label"}, heads(out), "operator 5: it isn't reconciled")
	})
	t.Run("operator mistake 11: a directory, by the names of its files", func(t *testing.T) {
		t.Parallel()
		files := map[string]string{"crs/b.yaml": boxed + "{}", "crs/a.json": `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`, "crs/c.yml": "\n", "crs/d.txt": "x"}
		code, out, log := render(t, files, "render", "-f", "DIR/crs", "--output-dir", "DIR/out")
		require.Zero(t, code, log)
		assert.Equal(t, 2, strings.Count(out, "/default/a/"))
	})
	t.Run("a resource in a disabled component isn't rendered, and its files stay", func(t *testing.T) {
		t.Parallel()
		files := map[string]string{
			"crs/a.yaml": strings.Replace(boxed, "big", "small", 1) + "{widgets: [x]}", "crs/b.yaml": boxed + "{box: small, widgets: [z], mistake: disabled}",
		}
		code, out, log := render(t, files, "render", "-f", "DIR/crs", "--output-dir", "DIR/out")
		require.Zero(t, code, log)
		assert.Equal(t, 2, strings.Count(out, "example.com.v1.box"), out)
		for file := range strings.Lines(out) {
			assert.FileExists(t, strings.TrimSpace(file))
		}
	})
	t.Run("a list, as kubectl get prints it", func(t *testing.T) {
		t.Parallel()
		list := `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","deletionTimestamp":"2030-01-01T00:00:00Z"}},{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"b"}}]}`
		code, out, log := render(t, map[string]string{"a.json": list}, "render", "-f", "DIR/a.json")
		require.Zero(t, code, log)
		assert.Len(t, heads(out), 4)
		code, _, log = render(t, map[string]string{"a.json": `{"apiVersion":"v1","kind":"List","items":[{"kind":"Widget"}]}`}, "render", "-f", "DIR/a.json")
		assert.Equal(t, 2, code)
		assert.Contains(t, log, "document 1: an item of the list has no apiVersion, kind or name")
	})
	t.Run("a kind without namespaces, as its definition says", func(t *testing.T) {
		t.Parallel()
		definition := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: boxes.example.com}\nspec:\n  group: example.com\n  scope: Cluster\n" +
			"  names: {kind: Box, plural: boxes}\n  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]\n"
		code, out, log := render(t, map[string]string{"a.yaml": boxed + "{box: small}", "crd.yaml": definition}, "render", "-f", "DIR/a.yaml", "-r", "DIR/crd.yaml")
		require.Zero(t, code, log)
		assert.NotContains(t, out, "namespace:")
	})
	t.Run("one of 200 documents is bad: all others are fine, and nothing is half done", func(t *testing.T) {
		t.Parallel()
		var all strings.Builder
		for n := range 200 {
			if n == 150 || n == 170 {
				all.WriteString("---\napiVersion: [\n")
				continue
			}
			all.WriteString("---\n" + boxed + "{}\n")
		}
		code, out, log := render(t, map[string]string{"a.yaml": all.String()}, "render", "-f", "DIR/a.yaml")
		assert.Equal(t, 2, code)
		assert.Empty(t, out)
		assert.Contains(t, log, "document 151: invalid YAML")
		assert.Contains(t, log, "document 171: invalid YAML")
	})
	for reason, row := range map[string]struct {
		args []string
		want string
	}{
		"nothing":                        {[]string{"render"}, "no resources are given: use --filename FILE"},
		"no file":                        {[]string{"render", "-f", "DIR/nothing.yaml", "-f", "DIR/none.yaml"}, "--filename: open DIR/nothing.yaml: no such file or directory\n--filename: open DIR/none.yaml"},
		"an empty directory":             {[]string{"render", "-f", "DIR"}, "--filename DIR: holds no resource"},
		"a flag that goes with another":  {[]string{"render", "-f", "DIR/x", "--show-disabled"}, "--show-disabled needs --output-dir"},
		"operator 2: without a dry run":  {[]string{"run", "--resource-dir", "DIR"}, "--resource-dir needs --dry-run"},
		"operator 2: no such directory":  {[]string{"run", "--dry-run", "--cr", "DIR/a.yaml", "--resource-dir", "DIR/x"}, "--resource-dir: open DIR/x: no such file or directory"},
		"what is there already, but not": {[]string{"render", "-f", "DIR/a.yaml", "-r", "DIR/bad.yaml"}, "--resource-dir DIR/bad.yaml: document 1: not a Kubernetes object"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			if reason != "an empty directory" {
				files = map[string]string{"a.yaml": boxed + "{}", "bad.yaml": "x"}
			}
			code, out, log := render(t, files, row.args...)
			assert.Equal(t, 2, code, log)
			assert.Empty(t, out)
			assert.Contains(t, log, row.want)
		})
	}
}
