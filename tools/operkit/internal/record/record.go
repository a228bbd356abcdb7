package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/operkit/operkit/tools/operkit/internal/project"
	"golang.org/x/mod/semver"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"
)

// The files of a record.
const (
	AnswersFile = ".operkit/answers.yaml"
	BaseFile    = ".operkit/base.txtar"
)

const (
	answersComment = "# What operkit was asked for. Keep this folder in git, and don't edit it: `operkit update` needs it.\n"
	baseComment    = "The files of this project as operkit wrote them, in the format of golang.org/x/tools/txtar.\n"
)

// Record is what operkit has written into a project.
type Record struct {
	Answers
	// Base are the files as operkit wrote them, sorted by path.
	Base []project.File
}

// New returns the record of a new project. version is the version of this program, files are the project's files.
func New(version string, values project.Values, files []project.File) Record {
	return Record{Answers{Operkit: version, Name: values.Name, Kinds: []Kind{kindOf(values)}}, based(files)}
}

// AddKind adds a kind and its files, unless the record has the kind.
func (r *Record) AddKind(values project.Values, files []project.File) {
	if kind := kindOf(values); !slices.ContainsFunc(r.Kinds, func(k Kind) bool { return k.Kind == kind.Kind && k.API == kind.API }) {
		r.Kinds = append(r.Kinds, kind)
	}
	r.Base = based(append(r.Base, files...))
}

// AddComponent adds a component and its files, unless the record has the component.
func (r *Record) AddComponent(values project.Values, files []project.File) {
	component := componentOf(values)
	if !slices.ContainsFunc(r.Components, func(c Component) bool {
		return c.Component == component.Component && c.Folder == component.Folder
	}) {
		r.Components = append(r.Components, component)
	}
	r.Base = based(append(r.Base, files...))
}

// AddWebhook adds the webhooks of a kind and their files, unless the record has them.
func (r *Record) AddWebhook(values project.Values, files []project.File) {
	webhook := webhookOf(values)
	if !slices.ContainsFunc(r.Webhooks, func(w Webhook) bool { return w.Kind == webhook.Kind && w.Folder == webhook.Folder }) {
		r.Webhooks = append(r.Webhooks, webhook)
	}
	r.Base = based(append(r.Base, files...))
}

// AddServing adds what webhooks and conversions need in config. It is recorded for the name that the operator has had at
// first: if the operator is called otherwise now, that is an edit of these files.
func (r *Record) AddServing() error {
	files, err := project.Render(project.Serving, project.Values{Name: r.Name})
	if err != nil {
		return err
	}
	r.Serving = true
	r.Base = based(append(r.Base, files...))
	return nil
}

// Read reads the record of the project in root for a program of a version. If there is none, the error is
// fs.ErrNotExist. A record of a newer program is an error, because it may have answers that this program doesn't know.
func Read(root, version string) (Record, error) {
	var r Record
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(AnswersFile)))
	if err != nil {
		return r, err
	}
	if err := r.Answers.parse(text, version); err != nil {
		return r, fmt.Errorf("%s: %w", AnswersFile, err)
	}
	base, err := txtar.ParseFile(filepath.Join(root, filepath.FromSlash(BaseFile)))
	if err != nil {
		return r, err
	}
	for _, file := range base.Files {
		r.Base = append(r.Base, project.File{Path: file.Name, Text: file.Data})
	}
	return r, nil
}

// parse reads the version before the rest, so that a newer record isn't taken for a wrong one.
func (a *Answers) parse(text []byte, version string) error {
	var by struct {
		Operkit string `json:"operkit"`
	}
	if err := yaml.Unmarshal(text, &by); err != nil {
		return err
	}
	if semver.IsValid(version) && semver.Compare(by.Operkit, version) > 0 {
		return fmt.Errorf("was written by operkit %s, which is newer than this program (%s): run operkit@latest", by.Operkit, version)
	}
	if err := yaml.UnmarshalStrict(text, a); err != nil {
		return fmt.Errorf("was written by operkit %s, and can't be read by this program (%s): %w", by.Operkit, version, err)
	}
	return nil
}

// Files returns the files of the record itself.
func (r Record) Files() ([]project.File, error) {
	answers, err := yaml.Marshal(r.Answers)
	if err != nil {
		return nil, err
	}
	archive := txtar.Archive{Comment: []byte(baseComment)}
	for _, file := range r.Base {
		archive.Files = append(archive.Files, txtar.File{Name: file.Path, Data: file.Text})
	}
	base := txtar.Format(&archive)
	if again := txtar.Parse(base); len(again.Files) != len(r.Base) {
		return nil, fmt.Errorf("%s: a file has a line that looks like the beginning of another file", BaseFile)
	}
	return []project.File{{Path: AnswersFile, Text: append([]byte(answersComment), answers...)}, {Path: BaseFile, Text: base}}, nil
}

// Write writes the record below root where it differs, and reports whether it did.
func (r Record) Write(root string) (changed bool, err error) {
	files, err := r.Files()
	if err != nil {
		return false, err
	}
	for _, file := range files {
		path := filepath.Join(root, filepath.FromSlash(file.Path))
		before, err := os.ReadFile(path)
		if err != nil {
			return changed, err
		}
		if bytes.Equal(before, file.Text) {
			continue
		}
		changed = true
		if err := project.Replace(path, file.Text); err != nil {
			return changed, err
		}
	}
	return changed, nil
}
