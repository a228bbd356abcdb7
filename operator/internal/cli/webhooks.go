package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/internal/webhooks"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// secrets is the kind in which the certificate of webhooks is kept.
var secrets = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

func (o *Operator) webhooksCommand() *cobra.Command {
	l := listing{operator: o}
	command := &cobra.Command{
		Use:        "webhooks",
		SuggestFor: []string{"webhook", "admission", "conversion", "policies"},
		Short:      "Show the operator's webhooks, conversions and policies in the cluster, or remove them (--remove)",
		Long: "Show what the API server knows about this operator: its webhooks, the conversions of its kinds, its policies, and the Secret\n" +
			"with its certificate. With --remove they are deleted, to uninstall the operator: requests are no longer sent to it. Stop\n" +
			"the operator first, because it writes them again.\n\n" +
			"A conversion is removed only with --conversions, because from then on a version shows only the fields that it has in\n" +
			"common with the version that is stored. Delete the kind's CustomResourceDefinition instead, or first move all\n" +
			"objects to one version.",
		Example: fmt.Sprintf("  %[1]s webhooks\n  %[1]s webhooks --remove -n shop\n  %[1]s webhooks --remove --yes --conversions", o.Called),
		Args:    noArguments,
		RunE:    l.run,
	}
	set := command.Flags()
	set.StringVarP(&l.namespace, "namespace", "n", "", "namespace of the operator (default: the setting leader-election.namespace, or the namespace of the context)")
	set.BoolVar(&l.remove, "remove", false, "remove them")
	set.BoolVar(&l.conversions, "conversions", false, "remove conversions too")
	set.BoolVarP(&l.yes, "yes", "y", false, "don't ask")
	return command
}

// listing is one call of the command webhooks.
type listing struct {
	operator                 *Operator
	namespace                string
	remove, conversions, yes bool
}

func (l *listing) run(cmd *cobra.Command, _ []string) error {
	if !l.remove && (l.conversions || l.yes) {
		return Usage("--conversions and --yes need --remove")
	}
	p, c, err := l.operator.attach(cmd)
	if err != nil {
		return err
	}
	found, err := l.find(cmd, p, c)
	if err != nil {
		return c.explained(err)
	}
	if len(found) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "nothing found: the operator has no webhook, conversion or policy in the cluster")
		return nil
	}
	rows := [][]string{{"WHAT", "NAME", "WHILE NO OPERATOR RUNS"}}
	for _, object := range found {
		rows = append(rows, webhooks.Rows(object)...)
	}
	if err := writeWhole(cmd.OutOrStdout(), rows); err != nil || !l.remove {
		return err
	}
	for _, warning := range l.operator.running(cmd.Context(), p, c, "it writes them again") {
		write(cmd.ErrOrStderr(), "warning: %s", warning)
	}
	if !l.yes && !confirmed(cmd.InOrStdin(), cmd.ErrOrStderr(), "Remove these? [y/N] ") {
		return Usage("nothing was removed: answer y, or give --yes")
	}
	return l.delete(cmd, c, found)
}

// find returns all objects of the operator, with the Secret at the end.
func (l *listing) find(cmd *cobra.Command, p *Process, c *connection) ([]*unstructured.Unstructured, error) {
	found, err := l.operator.webhookOwner().Find(cmd.Context(), c.Port())
	if err != nil {
		return nil, err
	}
	secret, err := c.Port().Get(cmd.Context(), deploy.Ref{
		Kind: secrets, Namespace: cmp.Or(l.namespace, p.LeaderElection.Namespace, c.namespace),
		Name: webhooks.SecretName(p.Webhooks.Secret, l.operator.Name),
	})
	switch {
	case is[*deploy.ForbiddenError](err) && !l.remove: // who only looks needs no right to it
		return found, nil
	case err != nil:
		return nil, err
	case secret != nil && l.operator.webhookOwner().Issued(secret):
		found = append(found, secret)
	}
	return found, nil
}

// delete removes objects. It goes on after an error, and returns all errors.
func (l *listing) delete(cmd *cobra.Command, c *connection, found []*unstructured.Unstructured) error {
	var stay error
	err := c.each(found, func(object *unstructured.Unstructured) error {
		ref := deploy.RefOf(object)
		if webhooks.Converts(object) {
			if !l.conversions {
				stay = errors.Join(stay, fmt.Errorf("the conversion of %s stays: without it versions lose fields: delete the definition, or give --conversions", ref.Name))
				return nil
			}
			err := l.operator.webhookOwner().RemoveConversion(cmd.Context(), c.Port(), object)
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), "conversion of", ref.Name, "removed")
			}
			return err
		}
		err := c.Port().Delete(cmd.Context(), ref, deploy.DeleteOptions{UID: object.GetUID()})
		if err != nil && !is[*deploy.NotFoundError](err) {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), ref, "removed")
		return nil
	})
	return errors.Join(err, stay)
}

// webhookOwner is whose webhooks these are.
func (o *Operator) webhookOwner() webhooks.Owner {
	return webhooks.Owner{Name: o.Name, Domain: o.Domain}
}
