"""What the product does, a folder a feature: model, rules, store, service, wire, routes, jobs."""
