package project

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"go/format"
	"io/fs"
	"path"
	"strings"
	"text/template"

	"github.com/operkit/operkit/tools/operkit/internal/manifest"
	"github.com/operkit/operkit/tools/operkit/internal/name"
	"sigs.k8s.io/yaml"
)

//go:embed all:files
var templates embed.FS

// status is the schema of the type status.Fields, as controller-gen makes it.
//
//go:embed status.yaml
var status []byte

// suffix is the suffix of templates' names, so that no tool treats them as Go, YAML or other files.
const suffix = ".tmpl"

// Part is a folder of templates.
type Part string

// The parts of a project.
const (
	Base      Part = "project"
	Kind      Part = "kind"
	Component Part = "component"
	// Webhook has the webhooks of a kind, Conversion its conversion, and Serving what both need in config.
	Webhook    Part = "webhook"
	Conversion Part = "conversion"
	Serving    Part = "serving"
)

// File is a file of a project.
type File struct {
	// Path is its path below the root, with slashes.
	Path string
	Text []byte
}

// Render fills in the templates of a part, in the order of their paths. A template that renders nothing makes no file.
func Render(part Part, values Values) (files []File, err error) {
	root := path.Join("files", string(part))
	err = fs.WalkDir(templates, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative := strings.TrimSuffix(strings.TrimPrefix(name, root+"/"), suffix)
		file := File{Path: values.path(relative)}
		if file.Text, err = render(name, file.Path, values); err != nil {
			return fmt.Errorf("template %s: %w", name, err)
		}
		if len(file.Text) == 0 {
			return nil
		}
		files = append(files, file)
		return nil
	})
	return files, err
}

// path returns the path of the file for a template.
func (v Values) path(relative string) string {
	return path.Clean(strings.NewReplacer(
		"API", v.API, "KIND", v.Singular(), "PACKAGE", v.Package, "CRD", v.CRD(), "FOLDER", v.Folder, "COMPONENT", name.File(v.Component),
	).Replace(relative))
}

func render(name, to string, values Values) ([]byte, error) {
	text, err := templates.ReadFile(name)
	if err != nil {
		return nil, err
	}
	parsed, err := template.New(to).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, values); err != nil {
		return nil, err
	}
	switch {
	case len(bytes.TrimSpace(out.Bytes())) == 0:
		return nil, nil
	case path.Ext(to) == ".go":
		return format.Source(out.Bytes())
	case strings.HasPrefix(to, "config/crd/"):
		return manifest.Definition(out.Bytes())
	}
	return out.Bytes(), nil
}

// statusSchema returns the schema of the status on one line: the fields of status.Fields, and those of the new kind.
func statusSchema(v Values) (string, error) {
	var schema struct {
		Description string         `json:"description"`
		Properties  map[string]any `json:"properties"`
		Type        string         `json:"type"`
	}
	if err := yaml.Unmarshal(status, &schema); err != nil {
		return "", err
	}
	schema.Description = v.Kind + "Status is what the operator reports: the fields of every status, and those that it sets by SetStatus."
	if !v.Empty {
		schema.Properties["url"] = map[string]any{"description": "URL is the address of the server inside the cluster.", "type": "string"}
	}
	document, err := json.Marshal(schema)
	return string(document), err
}
