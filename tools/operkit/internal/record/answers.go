package record

import (
	"path"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/operkit/internal/project"
)

// Answers are what a project was made from.
type Answers struct {
	// Operkit is the version of the program whose files the base has.
	Operkit string `json:"operkit"`
	// Name is the name of the operator.
	Name string `json:"name"`
	// Kinds are in the order in which they were added; the first one is from init.
	Kinds []Kind `json:"kinds"`
	// Components are the components that were added.
	Components []Component `json:"components,omitempty"`
	// Webhooks are the kinds that got webhooks.
	Webhooks []Webhook `json:"webhooks,omitempty"`
	// Serving means that config has what webhooks and conversions need.
	Serving bool `json:"serving,omitempty"`
}

// Kind has the values for the templates of a kind.
type Kind struct {
	Kind    string `json:"kind"`
	Group   string `json:"group"`
	Version string `json:"version"`
	API     string `json:"api"`
	Package string `json:"package"`
	Empty   bool   `json:"empty,omitempty"`
}

// Component has the values for the templates of a component.
type Component struct {
	Component string `json:"component"`
	Type      string `json:"type"`
	Test      string `json:"test"`
	Folder    string `json:"folder"`
	Package   string `json:"package"`
	Labels    bool   `json:"labels,omitempty"`
}

// Webhook has the values for the templates of a kind's webhooks.
type Webhook struct {
	Kind    string `json:"kind"`
	Group   string `json:"group"`
	Version string `json:"version"`
	API     string `json:"api"`
	Folder  string `json:"folder"`
	Package string `json:"package"`
	// Controlled means that this package has the controller of the kind.
	Controlled bool `json:"controlled,omitempty"`
}

func kindOf(v project.Values) Kind {
	return Kind{v.Kind, v.Group, v.Version, v.API, v.Package, v.Empty}
}

func componentOf(v project.Values) Component {
	return Component{v.Component, v.Type, v.Test, v.Folder, v.Package, v.Labels}
}

func webhookOf(v project.Values) Webhook {
	return Webhook{v.Kind, v.Group, v.Version, v.API, v.Folder, v.Package, v.Controlled}
}

// Files returns the files that this program writes for the answers, as far as a base has them. module is the path of the
// Go module, which people may have changed since.
func (a Answers) Files(module string, versions project.Versions) ([]project.File, error) {
	var files []project.File
	for i, kind := range a.Kinds {
		values := project.Values{
			Name: a.Name, Module: module, Kind: kind.Kind, Group: kind.Group, Version: kind.Version, API: kind.API,
			Package: kind.Package, Empty: kind.Empty, Versions: versions,
		}
		render := func() ([]project.File, error) { return project.Render(project.Kind, values) }
		if i == 0 {
			render = func() ([]project.File, error) { return project.New(values) }
		}
		rendered, err := render()
		if err != nil {
			return nil, err
		}
		files = append(files, rendered...)
	}
	for _, component := range a.Components {
		rendered, err := project.Render(project.Component, project.Values{
			Module: module, Component: component.Component, Type: component.Type, Test: component.Test,
			Folder: component.Folder, Package: component.Package, Labels: component.Labels, Versions: versions,
		})
		if err != nil {
			return nil, err
		}
		files = append(files, rendered...)
	}
	for _, webhook := range a.Webhooks {
		rendered, err := project.Render(project.Webhook, project.Values{
			Module: module, Kind: webhook.Kind, Group: webhook.Group, Version: webhook.Version, API: webhook.API,
			Folder: webhook.Folder, Package: webhook.Package, Controlled: webhook.Controlled, Versions: versions,
		})
		if err != nil {
			return nil, err
		}
		files = append(files, rendered...)
	}
	if a.Serving {
		rendered, err := project.Render(project.Serving, project.Values{Name: a.Name})
		if err != nil {
			return nil, err
		}
		files = append(files, rendered...)
	}
	return based(files), nil
}

// based returns the files that a base has, sorted by path. Of several files with one path it returns the first: kinds
// of one API share doc.go.
func based(files []project.File) []project.File {
	kept := slices.DeleteFunc(slices.Clone(files), func(file project.File) bool { return generated(file.Path) })
	slices.SortStableFunc(kept, func(a, b project.File) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(kept, func(a, b project.File) bool { return a.Path == b.Path })
}

// generated reports whether a command makes a file: go.mod, deep copies, definitions, and golden files.
func generated(file string) bool {
	return file == "go.mod" || strings.HasPrefix(path.Base(file), "zz_generated.") || strings.HasPrefix(file, "config/crd/") ||
		path.Base(path.Dir(file)) == "testdata"
}
