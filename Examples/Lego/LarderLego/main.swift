print("larder-lego")
