package templates_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/templates"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shelf has the files of versions.
type shelf map[string]fs.FS

// Open implements reconcile.Assets.
func (v shelf) Open(_ context.Context, s *reconcile.Session) (fs.FS, func(), error) {
	files, ok := v[s.Version()]
	if !ok {
		return nil, nil, request.Configuration("there is no version %q", s.Version())
	}
	return files, nil, nil
}

// Sign has one component, of the templates of the version that a resource wants.
type Sign struct{ templates *templates.Versions }

// Kind implements reconcile.Controller.
func (Sign) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Sign"}
}

// Setup implements reconcile.Controller.
func (c Sign) Setup(_ context.Context, s *reconcile.Session) error {
	found, err := c.templates.For(s)
	if err != nil {
		return err
	}
	s.Use("sign", found.Component("sign"))
	return nil
}

const signTemplate = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Name }}}\ndata: {text: %q}\n"

func sign(name, version string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Sign", "metadata": map[string]any{"name": name, "namespace": "market", "uid": "uid-of-" + name},
		"spec": map[string]any{"version": version},
	}}
}

// signs reconciles signs and returns what is written on them.
func signs(versions shelf, names ...string) ([]string, error) {
	var objects []*unstructured.Unstructured
	for i := 0; i < len(names); i += 2 {
		objects = append(objects, sign(names[i], names[i+1]))
	}
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(objects...))
	if err != nil {
		return nil, err
	}
	controller := Sign{templates.OfVersions(".")}
	manager, err := deploy.NewManager(memory)
	if err != nil {
		return nil, err
	}
	reconciler, err := reconcile.New(controller, manager, reconcile.WithAssets(versions))
	if err != nil {
		return nil, err
	}
	var texts []string
	var errs []error
	for _, obj := range objects {
		key := deploy.Ref{Kind: controller.Kind(), Namespace: "market", Name: obj.GetName()}
		_, err := reconciler.Reconcile(context.Background(), request.Request{Key: key})
		errs = append(errs, err)
		made, err := memory.View().Get(context.Background(), deploy.Ref{
			Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "market", Name: obj.GetName(),
		})
		errs = append(errs, err)
		if made != nil {
			text, _, _ := unstructured.NestedString(made.Object, "data", "text")
			texts = append(texts, text)
		}
	}
	return texts, errors.Join(errs...)
}

func ExampleVersions() {
	texts, err := signs(shelf{
		"1.0.0": fstest.MapFS{"sign/sign.yaml": {Data: fmt.Appendf(nil, signTemplate, "open")}},
		"1.1.0": fstest.MapFS{"sign/sign.yaml": {Data: fmt.Appendf(nil, signTemplate, "come in")}},
	}, "tea", "1.0.0", "shoes", "1.1.0")
	fmt.Println(texts, err)
	// Output: [open come in] <nil>
}

// counted counts how often files are opened. It is a pointer, by which its files are told from those of others.
type counted struct {
	fs.FS
	opened int
}

// Open implements fs.FS.
func (c *counted) Open(name string) (fs.File, error) {
	c.opened++
	return c.FS.Open(name)
}

// exhausted are files that can't be opened so many times, since too many are open.
type exhausted struct {
	fs.FS
	times int
}

// Open implements fs.FS.
func (e *exhausted) Open(name string) (fs.File, error) {
	if e.times--; e.times >= 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EMFILE}
	}
	return e.FS.Open(name)
}

func TestVersions(t *testing.T) {
	t.Parallel()
	t.Run("each version is parsed once", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(folder, "sign"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "sign", "sign.yaml"), fmt.Appendf(nil, signTemplate, "open"), 0o644))
		files := &counted{FS: os.DirFS(folder)}
		_, err := signs(shelf{"1": files}, "a", "1")
		require.NoError(t, err)
		once := files.opened
		files.opened = 0
		texts, err := signs(shelf{"1": files}, "a", "1", "b", "1", "c", "1")
		require.NoError(t, err)
		assert.Equal(t, []string{"open", "open", "open"}, texts)
		assert.Equal(t, once, files.opened)
	})
	t.Run("files that can't be parsed are an error of the resource alone", func(t *testing.T) {
		t.Parallel()
		texts, err := signs(shelf{
			"1": fstest.MapFS{"sign/sign.yaml": {Data: fmt.Appendf(nil, signTemplate, "open")}},
			"2": fstest.MapFS{"sign/sign.yaml": {Data: []byte("{{ .Oops")}},
		}, "a", "2", "b", "1")
		require.ErrorContains(t, err, "version 2: ")
		assert.Equal(t, status.ErrorConfig, request.ClassOf(err))
		assert.Equal(t, []string{"open"}, texts)
	})
	t.Run("files that can't be read now are read again, and are no mistake of the resource", func(t *testing.T) {
		t.Parallel()
		good := fstest.MapFS{"sign/sign.yaml": {Data: fmt.Appendf(nil, signTemplate, "open")}}
		texts, err := signs(shelf{"1": &exhausted{good, 1}}, "a", "1", "b", "1")
		require.ErrorIs(t, err, syscall.EMFILE)
		require.ErrorContains(t, err, "setup: version 1: templates: ")
		assert.Equal(t, status.ErrorUnknown, request.ClassOf(err))
		assert.Equal(t, []string{"open"}, texts)
	})
	t.Run("a folder that isn't there is a mistake of the resource, and looked for each time", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		files := &counted{FS: os.DirFS(filepath.Join(folder, "later"))}
		_, err := signs(shelf{"1": files}, "a", "1")
		require.ErrorIs(t, err, fs.ErrNotExist)
		assert.Equal(t, status.ErrorConfig, request.ClassOf(err))
		opened := files.opened
		_, err = signs(shelf{"1": files}, "a", "1", "b", "1")
		require.ErrorIs(t, err, fs.ErrNotExist)
		assert.Equal(t, 3*opened, files.opened)
	})
	t.Run("a link to a folder is no file, which is a mistake of the version", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(folder, "sign.yaml")))
		_, err := signs(shelf{"1": os.DirFS(folder)}, "a", "1")
		require.ErrorIs(t, err, syscall.EISDIR)
		assert.Equal(t, status.ErrorConfig, request.ClassOf(err))
	})
	t.Run("a version that isn't there", func(t *testing.T) {
		t.Parallel()
		_, err := signs(shelf{}, "a", "3")
		require.ErrorContains(t, err, `version 3: there is no version "3"`)
	})
	t.Run("more versions than are kept", func(t *testing.T) {
		t.Parallel()
		versions, names := shelf{}, []string{}
		for i := range 70 {
			version := fmt.Sprint(i)
			versions[version] = &counted{FS: fstest.MapFS{"sign/sign.yaml": {Data: fmt.Appendf(nil, signTemplate, version)}}}
			names = append(names, "n"+version, version)
		}
		texts, err := signs(versions, append(names, "again", "0")...)
		require.NoError(t, err)
		assert.Len(t, texts, 71)
		assert.Equal(t, "0", texts[70])
	})
}
