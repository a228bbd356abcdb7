package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func (o *Operator) takeBackCommand() *cobra.Command {
	var namespace string
	var dryRun, yes bool
	command := &cobra.Command{
		Use:   "take-back KIND/NAME FIELD...",
		Short: "Take fields of an object back that the operator has left to others, such as replicas after kubectl scale",
		Long: "Take fields back that the operator has left to others, such as the replicas of a Deployment after kubectl scale. The commands status and\n" +
			"diff show these fields. take-back itself changes no value. The running operator applies its values as soon as it sees that nobody\n" +
			"else owns the fields. An autoscaler takes its field again when it scales the next time.",
		Example: fmt.Sprintf("  %[1]s take-back deployment/web spec.replicas\n  %[1]s take-back deployment/web spec.replicas -n shop --dry-run", o.Called),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return Usage("no fields are given: give KIND/NAME FIELD..., such as deployment/web spec.replicas")
			}
			_, c, err := o.attach(cmd)
			if err != nil {
				return err
			}
			ref, err := objectOf(cmd.Context(), c, namespace, args[0])
			if err != nil {
				return err
			}
			return o.takeBack(cmd, c, ref, args[1:], dryRun, yes)
		},
	}
	set := command.Flags()
	set.StringVarP(&namespace, "namespace", "n", "", "namespace of the object (default: the namespace of the context)")
	set.BoolVar(&dryRun, "dry-run", false, "show what would be taken back, and change nothing")
	set.BoolVarP(&yes, "yes", "y", false, "don't ask")
	return command
}

// takeBack shows the fields to take back and the managers that own them, asks for confirmation, and takes them.
func (o *Operator) takeBack(cmd *cobra.Command, c *connection, ref deploy.Ref, fields []string, dryRun, yes bool) error {
	manager, err := o.Manager(c)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	taken, err := manager.TakeBack(cmd.Context(), ref, fields, deploy.DryRun())
	if err != nil {
		return c.explained(err)
	}
	for _, field := range taken {
		fmt.Fprintf(out, "%s: %s: %s\n", ref, strings.TrimPrefix(field.Field, "."), field.Message)
	}
	if dryRun {
		fmt.Fprintln(out, ref, "would be taken back (dry run)")
		return nil
	}
	if !yes && !confirmed(cmd.InOrStdin(), cmd.ErrOrStderr(), "Take these fields back? [y/N] ") {
		return Usage("%s: nothing was taken back: answer y, or give --yes", ref)
	}
	if _, err = manager.TakeBack(cmd.Context(), ref, fields); err != nil {
		return c.explained(err)
	}
	fmt.Fprintln(out, ref, "taken back: the operator applies the values of the resource")
	return nil
}

// objectOf finds the object that KIND/NAME means. If the word means several kinds, a kind of Kubernetes itself comes
// first.
func objectOf(ctx context.Context, c *connection, namespace, object string) (deploy.Ref, error) {
	word, name, separated := strings.Cut(object, "/")
	if !separated || word == "" || name == "" {
		return deploy.Ref{}, Usage("%s: the kind is missing: give KIND/%s, such as deployment/%s", object, cmp.Or(name, word), cmp.Or(name, word))
	}
	kinds, err := c.Port().Kinds(ctx, word)
	builtIn := slices.IndexFunc(kinds, func(kind schema.GroupVersionKind) bool {
		return !strings.Contains(kind.Group, ".") || strings.HasSuffix(kind.Group, ".k8s.io")
	})
	switch {
	case len(kinds) == 0 && err != nil:
		return deploy.Ref{}, c.explained(err)
	case len(kinds) == 0:
		return deploy.Ref{}, Usage("%s: the cluster has no kind %s", object, word)
	case len(kinds) > 1 && builtIn < 0:
		return deploy.Ref{}, c.explained(&deploy.AmbiguousKindError{Name: word, Candidates: kinds})
	}
	chosen := selection{namespace: namespace}
	return chosen.ref(ctx, c, kinds[max(builtIn, 0)], "", name)
}

// confirmed asks a question, and reports whether the answer is yes.
func confirmed(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprint(out, question)
	answer, _ := bufio.NewReader(in).ReadString('\n')
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
}
