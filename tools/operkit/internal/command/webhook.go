package command

import (
	"github.com/operkit/operkit/tools/operkit/internal/name"
	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/record"
	"github.com/operkit/operkit/tools/operkit/internal/source"
	"github.com/spf13/cobra"
)

const webhookHelp = `webhook adds functions that change and check the resources of a kind before the
API server stores them: a file with an example of each, their test, and the
line op.Admit(...) in main.go. It also adds what they need when the operator is
installed: a Service, rights, and a port of the Deployment. The certificate
takes care of itself.

You don't need a webhook for defaults and rules that the API server checks by
itself: use markers such as +kubebuilder:default and
+kubebuilder:validation:XValidation at the Go types, and run 'make generate'. A
webhook is for what needs Go code, the user, or other objects.

Existing files aren't changed, so you can run the command again. If it doesn't
find the place for a line, it prints the line.`

const webhookExamples = `  operkit add webhook Guestbook`

func (p *program) addWebhook() *cobra.Command {
	var group, dir string
	cmd := &cobra.Command{
		Use:                   "webhook KIND [flags]",
		SuggestFor:            []string{"admission", "validator", "mutator", "defaulting", "validation"},
		Short:                 "Add functions that change and check resources of a kind",
		Long:                  webhookHelp,
		Example:               webhookExamples,
		DisableFlagsInUseLine: true,
		Args:                  one("KIND, such as Guestbook"),
		RunE:                  func(_ *cobra.Command, args []string) error { return p.webhook(args[0], group, dir) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&group, "group", "", "`GROUP` of the kind; needed if several groups have it")
	flags.StringVar(&dir, "dir", ".", "`FOLDER` of the operator")
	return cmd
}

func (p *program) webhook(kind, group, dir string) error {
	if err := name.Kind(kind); err != nil {
		return usage(err)
	}
	opened, err := project.Open(dir)
	if err != nil {
		return usage(err)
	}
	t, err := p.target(opened, kind, group)
	if err != nil {
		return usage(err)
	}
	files, err := project.Render(project.Webhook, t.values)
	if err != nil {
		return err
	}
	if err := checkFree(opened, t, files, "Webhooks"); err != nil {
		return usage(err)
	}
	add, err := p.addition(opened)
	if err != nil {
		return usage(err)
	}
	line := source.Registration{Method: "Admit", Path: t.importPath(), Package: t.values.Package, Value: "Webhooks()"}
	if registered(opened, line) {
		add.report("the program's webhooks of "+t.importPath(), project.Same)
		return add.tell(files...)
	}
	if err := add.keep(files...); err != nil {
		return err
	}
	if err := add.remember(func(r *record.Record) { r.AddWebhook(t.values, files) }); err != nil {
		return err
	}
	if err := add.serving(t.operator); err != nil {
		return err
	}
	if err := add.register(line); err != nil {
		return err
	}
	add.end()
	p.say(`
Next:
  Defaults and rules that need no Go code are markers in %s, without a
  webhook. For the others, edit %s/webhooks.go.
  make test           # runs its test
  make test-cluster   # calls it by a real API server`, t.values.API, t.values.Folder)
	return nil
}
