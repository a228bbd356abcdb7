package operator

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/config"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// takeBack is what somebody wants to be taken back.
type takeBack struct {
	namespace   string
	dryRun, yes bool
}

func (o *Operator) takeBackCommand(settings *config.Settings) *cobra.Command {
	var t takeBack
	command := &cobra.Command{
		Use:   "take-back KIND/NAME FIELD...",
		Short: "Take fields of an object back that are left to others, such as replicas after kubectl scale",
		Long: "Take fields of an object of a resource back that are left to others, such as the replicas of a Deployment after kubectl scale. status and\n" +
			"diff show which. No value is changed by this: the operator that runs applies what the resource says as soon as it sees that the fields are\n" +
			"free. An autoscaler takes its field again when it scales the next time.",
		Example: fmt.Sprintf("  %[1]s take-back deployment/web spec.replicas\n  %[1]s take-back deployment/web spec.replicas -n shop --dry-run", o.callName()),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("which fields of which object? Say KIND/NAME FIELD..., such as deployment/web spec.replicas")
			}
			_, c, err := o.attach(cmd, settings)
			if err != nil {
				return err
			}
			return t.run(cmd, o, c, args[0], args[1:])
		},
	}
	set := command.Flags()
	set.StringVarP(&t.namespace, "namespace", "n", "", "namespace of the object (default: that of the context)")
	set.BoolVar(&t.dryRun, "dry-run", false, "show what would be taken back, and change nothing")
	set.BoolVarP(&t.yes, "yes", "y", false, "don't ask")
	return command
}

// run shows what is taken back and from whom, asks, and does it.
func (t takeBack) run(cmd *cobra.Command, o *Operator, c *connection, object string, fields []string) error {
	ref, err := t.ref(cmd, c, object)
	if err != nil {
		return err
	}
	manager := deploy.NewManager(c, o.managerOptions()...)
	taken, err := manager.TakeBack(cmd.Context(), ref, fields, deploy.DryRun())
	if err != nil {
		return c.explained(err)
	}
	for _, field := range taken {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s: %s\n", ref, strings.TrimPrefix(field.Field, "."), field.Message)
	}
	if t.dryRun {
		fmt.Fprintln(cmd.OutOrStdout(), ref, "would be taken back (dry run)")
		return nil
	}
	if !t.yes && !confirmed(cmd.InOrStdin(), cmd.ErrOrStderr(), "Take that back? [y/N] ") {
		return usage("%s: nothing was taken back: answer y, or say --yes", ref)
	}
	if _, err = manager.TakeBack(cmd.Context(), ref, fields); err != nil {
		return c.explained(err)
	}
	fmt.Fprintln(cmd.OutOrStdout(), ref, "taken back: the operator applies what the resource says")
	return nil
}

// ref is the object that KIND/NAME means.
func (t takeBack) ref(cmd *cobra.Command, c *connection, object string) (deploy.Ref, error) {
	word, name, separated := strings.Cut(object, "/")
	if !separated || word == "" || name == "" {
		return deploy.Ref{}, usage("%s: of which kind? Say KIND/%s, such as deployment/%s", object, cmp.Or(name, word), cmp.Or(name, word))
	}
	kinds, err := c.Port().Kinds(cmd.Context(), word)
	switch {
	case len(kinds) == 0 && err != nil:
		return deploy.Ref{}, c.explained(err)
	case len(kinds) == 0:
		return deploy.Ref{}, usage("%s: the cluster has no kind %s", object, word)
	case len(kinds) > 1 && !slices.ContainsFunc(kinds, isBuiltIn):
		return deploy.Ref{}, c.explained(&deploy.AmbiguousKindError{Name: word, Candidates: kinds})
	}
	kind := kinds[0]
	if i := slices.IndexFunc(kinds, isBuiltIn); i >= 0 {
		kind = kinds[i]
	}
	chosen := selection{namespace: t.namespace}
	return chosen.ref(cmd.Context(), c, kind, "", name)
}

// isBuiltIn reports whether a kind is one of Kubernetes itself, which a bare word means rather than another one.
func isBuiltIn(kind schema.GroupVersionKind) bool {
	return !strings.Contains(kind.Group, ".") || strings.HasSuffix(kind.Group, ".k8s.io")
}

// confirmed asks a question, and reports whether the answer is yes.
func confirmed(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprint(out, question)
	answer, _ := bufio.NewReader(in).ReadString('\n')
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
}
