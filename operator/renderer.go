package operator

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// renderer prints rendered objects as one stream of YAML documents, or writes each into a
// file of its own below a directory.
type renderer struct {
	out       io.Writer
	directory string
}

func newRenderer(out io.Writer, directory string) (*renderer, error) {
	if directory != "" {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return nil, usage("--output-dir: %w", err)
		}
	}
	return &renderer{out: out, directory: directory}, nil
}

func (r *renderer) write(resource resourceFile, objects []rendered) error {
	for i, o := range objects {
		document, err := yaml.Marshal(o.object.Object)
		if err != nil {
			return fmt.Errorf("%s %s: %w", o.object.GetKind(), o.object.GetName(), err)
		}
		content := fmt.Appendf(nil, "# %s: %s/%s\n%s", o.component, o.object.GetKind(), o.object.GetName(), document)
		if r.directory == "" {
			_, err = io.Copy(r.out, bytes.NewReader(append([]byte("---\n"), content...)))
		} else {
			err = r.writeFile(resource.object, i, o, content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeFile numbers the files so that their order is the rollout's. The namespace is part
// of the path: resources of one name in two namespaces don't overwrite each other.
func (r *renderer) writeFile(resource *unstructured.Unstructured, number int, o rendered, content []byte) error {
	directory := filepath.Join(r.directory, resource.GetNamespace(), resource.GetName())
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("--output-dir: %w", err)
	}
	// Component names are the author's free text; a path they must not lead out of.
	name := fmt.Sprintf("%02d-%s-%s-%s.yaml", number+1, o.component, strings.ToLower(o.object.GetKind()), o.object.GetName())
	name = strings.Map(func(c rune) rune {
		if c == '/' || c == os.PathSeparator {
			return '-'
		}
		return c
	}, name)
	path := filepath.Join(directory, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("--output-dir: %w", err)
	}
	fmt.Fprintln(r.out, path)
	return nil
}
