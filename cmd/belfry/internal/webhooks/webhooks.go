// Package webhooks is belfry webhooks: what receivers of webhooks need.
package webhooks

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
)

// Command are the commands about webhooks.
func Command(a *console.App) *cobra.Command {
	return console.Group("webhooks", "What receivers of webhooks need", webhookSecretCommand(a))
}

// secretsVariable holds the signing secrets, where Belfry itself is run.
const secretsVariable = "BELFRY_WEBHOOK_SECRETS" //nolint:gosec // the name of a setting

func webhookSecretCommand(a *console.App) *cobra.Command {
	var tenant, typ string
	c := &cobra.Command{Use: "secret", Short: "The signing secret of a tenant or a type", Args: console.Args(0, 0, "no arguments: --tenant and --type say whose"),
		Long: `Derive a signing secret from the newest of BELFRY_WEBHOOK_SECRETS and print it, on standard output.

A receiver that has it can verify deliveries of this tenant's jobs, of this type's jobs without a tenant, or of this type's
jobs of this tenant, and no others. Nothing is called, and nothing is kept.`,
		Example: "  belfry webhooks secret --tenant acme\n  belfry webhooks secret --tenant acme --type invoice.send\n  belfry webhooks secret --type belfry.alert"}
	f := console.FlagsOf(c)
	f.Text(&tenant, "tenant", "whose jobs the receiver works on")
	f.Text(&typ, "type", "which of them; alone, those without a tenant")
	c.RunE = func(*cobra.Command, []string) error {
		if tenant == "" && typ == "" {
			return console.Usage("say whose secret: --tenant, --type, or both")
		}
		var faults core.FieldErrors
		core.CheckText(&faults, "--tenant", tenant, core.MaxTenantBytes)
		if typ != "" && core.CheckTypeName(typ) != nil {
			faults.Add("--type", "%q cannot be the name of a type", typ)
		}
		if err := faults.Err(); err != nil {
			return console.Usage("%s", err)
		}
		secrets, err := a.Variable(secretsVariable)
		if err != nil {
			return err
		}
		if secrets == "" {
			return console.Usage("%s is not set here: run this where Belfry's settings are", secretsVariable)
		}
		newest, _, _ := strings.Cut(secrets, ",")
		secret, err := boot.DeriveWebhookSecret(newest, tenant, typ)
		if err != nil {
			return console.Usage("%s: %s", secretsVariable, err)
		}
		if a.JSON {
			return a.PrintValue(map[string]string{"secret": secret})
		}
		fmt.Fprintln(a.Out, secret)
		return nil
	}
	return c
}
