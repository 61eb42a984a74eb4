"""The documents from which mail programs configure an account: none holds a password.

| document | for | specification |
|---|---|---|
| `autoconfig` | Thunderbird, K-9 Mail, KMail, Evolution | Mozilla's config-v1.1.xml (draft-ietf-mailmaint-autoconfig) |
| `autodiscover` | Outlook | Autodiscover, plain old XML and JSON version 2 ([MS-OXDSCLI]) |
| `apple` | iPhone, iPad, Mac | a configuration profile, signed (Apple, CMS: RFC 5652) |

Programs without these find the servers by SRV records (RFC 6186, RFC 8314), which are DNS records of the domain.
"""
