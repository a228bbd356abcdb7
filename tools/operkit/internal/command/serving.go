package command

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/operkit/internal/manifest"
	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/record"
	"github.com/operkit/operkit/tools/operkit/internal/source"
)

// onThisMachine are the flags by which an API server on the same machine reaches the operator.
const onThisMachine = "--webhooks.address 127.0.0.1:9443 --webhooks.url https://127.0.0.1:9443"

// serving writes what webhooks and conversions need in config: the Service, the rights, the port of the Pods, and the
// files of patches in the kustomization.
func (a *addition) serving(operator string, patches ...string) error {
	files, err := project.Render(project.Serving, project.Values{Name: operator})
	if err != nil {
		return err
	}
	if err := a.keep(files...); err != nil {
		return err
	}
	if a.recorded != nil {
		if err := a.recorded.AddServing(); err != nil {
			return err
		}
	}
	if err := a.remember(func(*record.Record) {}); err != nil {
		return err
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimPrefix(file.Path, "config/"))
	}
	if err := a.kustomize(names, patches); err != nil {
		return err
	}
	port := "ports:\n" + manifest.Port("webhooks", project.WebhookPort, "  ")
	err = a.edit(project.DeploymentFile, port, func(text []byte) ([]byte, bool, error) {
		return manifest.AddPort(text, "webhooks", project.WebhookPort)
	})
	if err != nil {
		return err
	}
	return a.onThisMachine()
}

// kustomize adds files to the resources and patches of the kustomization.
func (a *addition) kustomize(resources, patches []string) error {
	byHand := "resources:\n  - " + strings.Join(resources, "\n  - ")
	if len(patches) > 0 {
		byHand += "\npatches:\n  - path: " + strings.Join(patches, "\n  - path: ")
	}
	return a.edit(project.KustomizationFile, byHand, func(text []byte) (out []byte, changed bool, err error) {
		add := func(files []string, one func(text []byte, file string) ([]byte, bool, error)) {
			for _, file := range files {
				var edited bool
				if err == nil {
					text, edited, err = one(text, file)
				}
				changed = changed || edited
			}
		}
		add(resources, manifest.AddResource)
		add(patches, manifest.AddPatch)
		return text, changed, err
	})
}

// onThisMachine prints the flags that the commands of an older project lack.
func (a *addition) onThisMachine() error {
	for _, file := range []string{"Makefile", "cluster_test.go"} {
		if !a.has(file) {
			continue
		}
		text, err := os.ReadFile(a.path(file))
		if err != nil {
			return err
		}
		if !bytes.Contains(text, []byte("webhooks.url")) {
			a.leave(file+", where the operator is run:", onThisMachine)
		}
	}
	return nil
}

// register adds a call such as op.Admit(guestbook.Webhooks()) to the program.
func (a *addition) register(r source.Registration) error {
	byHand := fmt.Sprintf("op.%s(%s.%s), and import %q", r.Method, r.Package, r.Value, r.Path)
	for _, file := range a.project.Programs() {
		text, err := file.Add(r)
		if err != nil {
			continue
		}
		return a.edit(a.project.Relative(file.Path), byHand, func([]byte) ([]byte, bool, error) { return text, true, nil })
	}
	a.leave("main.go", byHand)
	return nil
}

// registered reports whether a program of the project has the call.
func registered(p *project.Project, r source.Registration) bool {
	return slices.ContainsFunc(p.Folders, func(folder source.Folder) bool {
		return slices.ContainsFunc(folder.Files, func(file *source.File) bool { return file.Has(r) })
	})
}
